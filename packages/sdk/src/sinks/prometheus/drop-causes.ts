import { SondeError } from '../../errors.ts'
import type { SourceInfo } from '../../schema/batch.ts'
import type { MetricConflict } from './families.ts'

/** What it means where the view drops records for a reason, and what to do. */
const CAUSES: Readonly<Record<string, string>> = {
  duplicate_series:
    'another source reports the same series, and is shown; give one of the two another id, tag or label',
  series_limit:
    'a type has as many label combinations as seriesLimit, or a client its part of them; raise it, or use fewer label values',
  line_limit:
    'the page has as many lines as lineLimit, or a client its part of them; raise it, or use fewer label values',
  metric_conflict: 'another type has the metric with another kind or unit; name one of the two otherwise',
}

/** Longest text about refused metrics. Unit: characters. */
const CONFLICT_CHARACTERS = 400

/** The first refused metric, and how many others there are. `conflicts` is not empty. */
export function conflictWords([first, ...others]: readonly MetricConflict[]): string {
  const { metric, type, field, reason } = first as MetricConflict
  const more = others.length === 0 ? '' : `; and ${others.length} more`
  return `${metric} of ${type}.${field}: ${reason}`.slice(0, CONFLICT_CHARACTERS) + more
}

/** The cause of a reason in words; empty if none is known. */
export function prometheusDropCause(reason: string): string {
  return (Object.hasOwn(CAUSES, reason) ? CAUSES[reason] : undefined) ?? ''
}

/** Called with the first drop of each reason, and its source. */
export function firstDrops(name: string, tell: (fault: SondeError) => void) {
  const told = new Set<string>()
  return ({ id, tag }: SourceInfo, reason: string): void => {
    if (told.has(reason)) return
    told.add(reason)
    const cause = prometheusDropCause(reason)
    const what = `${name} drops records of source ${id}${tag === '' ? '' : ` with tag ${tag}`} as ${reason}`
    tell(new SondeError('PRM_LOST', `${what}${cause === '' ? '' : `: ${cause}`}; its stats count them`))
  }
}
