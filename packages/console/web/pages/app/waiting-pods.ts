import type { GpuPod } from '@sonde/sdk/api'
import { countText } from '../../format/number.ts'

/** Most reasons in a banner. */
const REASONS_MAX = 3
/** Most pods named per reason. */
const NAMES_MAX = 5

/** Sentences on why pods of a service have no utilisation. They quote the source that should report it. */
export function missingCauses(missing: readonly string[], pods: readonly GpuPod[]): string {
  const isMissing = new Set(missing)
  const reasons = new Map<string, string[]>()
  for (const { name, gaps } of pods) {
    if (!isMissing.has(name)) continue
    const reason = gaps.find(({ fields }) => fields.includes('gpu-util'))?.reason ?? 'not reported of its GPUs'
    reasons.set(reason, [...(reasons.get(reason) ?? []), name])
  }
  const told = [...reasons].slice(0, REASONS_MAX).map(([reason, names]) => {
    return reasons.size === 1 ? `${reason[0]?.toUpperCase()}${reason.slice(1)}.` : `${namesOf(names)}: ${reason}.`
  })
  const more = reasons.size - told.length
  const rest = more > 0 ? [`And ${countText(more, 'other reason')}: see the table of pods.`] : []
  return ['The numbers leave them out.', ...told, ...rest].join(' ')
}

function namesOf(names: readonly string[]): string {
  const more = names.length - NAMES_MAX
  return more > 0 ? `${names.slice(0, NAMES_MAX).join(', ')} and ${more} more` : names.join(', ')
}
