import { useSources } from '../api/resources.ts'
import { countText } from '../format/number.ts'

const NAMED_COUNT = 4

/**
 * The reason to wait until all sources have searched for hardware; then empty. Until then a page must not report
 * missing hardware.
 */
export function useFirstLook(): string {
  const starting = useSources().data?.sources.filter(({ state }) => state === 'starting') ?? []
  if (starting.length === 0) return ''
  const names = starting.slice(0, NAMED_COUNT).map(({ name }) => name)
  const more = starting.length > NAMED_COUNT ? ` and ${starting.length - NAMED_COUNT} more` : ''
  return `the first look of ${countText(starting.length, 'source')}: ${names.join(', ')}${more}`
}
