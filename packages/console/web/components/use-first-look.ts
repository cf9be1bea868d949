import { useSources } from '../api/resources.ts'
import { countText } from '../format/number.ts'

const NAMED_COUNT = 4

/**
 * What a page waits for while sources have not looked for their hardware yet, in words; empty once all have. Before
 * that, a page must not say that there is no hardware.
 */
export function useFirstLook(): string {
  const starting = useSources().data?.sources.filter(({ state }) => state === 'starting') ?? []
  if (starting.length === 0) return ''
  const names = starting.slice(0, NAMED_COUNT).map(({ name }) => name)
  const more = starting.length > NAMED_COUNT ? ` and ${starting.length - NAMED_COUNT} more` : ''
  return `the first look of ${countText(starting.length, 'source')}: ${names.join(', ')}${more}`
}
