import type { Family, MetricConflict } from './families.ts'
import type { Holder } from './quota.ts'
import type { HeldAbsence, Reasons } from './reasons.ts'

/** What is added to a HELP at most, for absences and for refusals each. Unit: characters. */
const TEXT_LIMIT_CHARACTERS = 400

/** What HELP says beside the metric's own sentence: which series have no value and why, and who was refused its name. */
export class HelpNotes {
  /** By type name: a metric of a type without absences costs one look. */
  readonly #absences = new Map<string, HeldAbsence[]>()
  /** By the name of the family that has the metric. */
  readonly #conflicts: ReadonlyMap<string | undefined, readonly MetricConflict[]>

  constructor(reasons: Reasons, conflicts: readonly MetricConflict[]) {
    this.#conflicts = Map.groupBy(conflicts, ({ owner }) => owner)
    for (const absence of reasons.all()) {
      const known = this.#absences.get(absence.type)
      if (known === undefined) this.#absences.set(absence.type, [absence])
      else known.push(absence)
    }
  }

  /** The sentences for a family, each after a blank; empty where there is nothing to say. */
  of(family: Family): string {
    return sentencesOf(this.#absencesOf(family), 'Absent') + this.#refusalsOf(family)
  }

  /** Series without a value, by the sentence that says why. */
  #absencesOf({ columns }: Family): ReadonlyMap<string, readonly string[]> {
    const seriesByReason = new Map<string, string[]>()
    const holders = new Set(columns.flatMap(({ table }) => [...table.held.keys()]))
    for (const { table, slots } of columns) {
      for (const { series, field, code, reason, holder } of this.#absences.get(table.type.name) ?? []) {
        if (!mayNote(holder, holders)) continue
        if (field !== '' && !slots.some(({ name }) => name === field)) continue
        const why = (reason || code).replace(/\.+$/, '')
        const known = seriesByReason.get(why)
        if (known === undefined) seriesByReason.set(why, [series])
        else known.push(series)
      }
    }
    return seriesByReason
  }

  #refusalsOf({ name }: Family): string {
    const fieldsByReason = new Map<string, string[]>()
    for (const { type, field, reason } of this.#conflicts.get(name) ?? []) {
      fieldsByReason.set(reason, [...(fieldsByReason.get(reason) ?? []), `${type}.${field}`])
    }
    return sentencesOf(fieldsByReason, 'Refused')
  }
}

/** Whether HELP of a family whose series these hold says what a holder reports absent: a client writes nothing about the series of others. */
function mayNote(holder: Holder, holders: ReadonlySet<Holder>): boolean {
  if (holder === undefined || holders.size === 0) return true
  return holders.has(holder) && !holders.has(undefined)
}

/** `Absent for a; b: why.` for every reason, within the limit. */
function sentencesOf(placesByReason: ReadonlyMap<string, readonly string[]>, verb: string): string {
  let text = ''
  let left = 0
  for (const [why, places] of placesByReason) {
    const named = places.includes('') ? [] : places
    const sentence = ` ${verb}${named.length === 0 ? '' : ` for ${listOf(named)}`}: ${why}.`
    if (text.length + sentence.length <= TEXT_LIMIT_CHARACTERS) text += sentence
    else left++
  }
  return left === 0 ? text : `${text} ${verb} for ${left} more reason${left === 1 ? '' : 's'}.`
}

function listOf(places: readonly string[]): string {
  const shown: string[] = []
  let length = 0
  for (const place of places) {
    length += place.length
    if (length > TEXT_LIMIT_CHARACTERS / 2) break
    shown.push(place)
  }
  const left = places.length - shown.length
  if (left === 0) return shown.join('; ')
  return shown.length === 0 ? `${left} series` : `${shown.join('; ')} and ${left} more`
}
