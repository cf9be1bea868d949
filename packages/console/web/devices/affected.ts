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

/** How long a device stays affected after an open incident last named it: a job has phases in which nobody waits. */
const HELD_MS = 30_000

/** The devices that open incidents named, by the id of the incident, with the time at which each was named last. */
export type NamedDevices = ReadonlyMap<string, ReadonlyMap<string, number>>

/** Adds the devices that open incidents name now to those that they named a moment ago. */
export function nameAgain(before: NamedDevices, incidents: readonly Incident[], nowMs: number): NamedDevices {
  return new Map(
    incidents.map(({ id, affected }) => {
      const named = new Map([...(before.get(id) ?? [])].filter(([, lastMs]) => nowMs - lastMs < HELD_MS))
      for (const device of affected) named.set(device, nowMs)
      return [id, named]
    }),
  )
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
