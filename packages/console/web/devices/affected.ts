import type { HintSeverity, Incident } from '@sonde/sdk/api'
import { isSick } from '../components/sickness.ts'
import type { StateTone } from '../components/state-mark.tsx'

const RANKS: Readonly<Record<HintSeverity, number>> = { critical: 0, warning: 1, notice: 2 }

/** The incidents that affect a device, the worst first. There is one at least. */
export type AffectedBy = readonly [worst: Incident, ...others: Incident[]]

/** The affected devices by their id. */
export type AffectedDevices = ReadonlyMap<string, AffectedBy>

/** The devices that show the effect of incidents without being the cause. Incidents never confirmed do not count. */
export function affectedDevices(incidents: readonly Incident[]): AffectedDevices {
  const sure = incidents.filter(({ hints }) => hints.some(({ outcome }) => outcome !== 'dismissed'))
  const affected = new Map<string, [Incident, ...Incident[]]>()
  for (const incident of sure.toSorted((a, b) => RANKS[a.severity] - RANKS[b.severity])) {
    for (const id of incident.affected) {
      const known = affected.get(id)
      if (known) known.push(incident)
      else affected.set(id, [incident])
    }
  }
  return affected
}

/** The tone by which lists order a device, so that affected devices are neither last nor folded. */
export function orderTone(tone: StateTone, by: AffectedBy | undefined): StateTone {
  return by === undefined || isSick(tone) ? tone : 'affected'
}

/** The incidents in a sentence, for the title of a mark. */
export function affectedWords([worst, ...others]: AffectedBy): string {
  const more = others.length === 0 ? '' : `, and by ${others.length} more`
  return `Affected by the incident: ${worst.title}${more}`
}
