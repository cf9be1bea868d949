import { turn } from '../../internal/turn.ts'
import type { Family } from './families.ts'
import { Mentions } from './mentions.ts'
import type { Holder } from './quota.ts'
import type { HeldAbsence } from './reasons.ts'

/** Refusals of one family that are put into words; the others are counted. */
const REFUSALS_IN_WORDS = 64

/** What holders say of one field, or of all fields, of a type. */
type Said = Map<Holder, Mentions>

/**
 * What HELP says beside the metric's own sentence: which series have no value and why, and who was refused its name.
 */
export class HelpNotes {
  /**
   * By type and field; an empty field is all of the type. What a family says costs the same, however many series are
   * absent.
   */
  readonly #absences = new Map<string, Map<string, Said>>()

  /** Takes what is absent, in as many turns of the event loop as it takes. */
  async gather(absences: readonly HeldAbsence[]): Promise<void> {
    for (const [order, { type, series, field, code, reason, holder }] of absences.entries()) {
      if (turn.isOver()) await turn.next()
      const fields = this.#absences.get(type) ?? new Map<string, Said>()
      const said: Said = fields.get(field) ?? new Map()
      const mentions = said.get(holder) ?? new Mentions()
      mentions.add(withoutStop(reason || code), series, order)
      this.#absences.set(type, fields.set(field, said.set(holder, mentions)))
    }
  }

  /** The sentences for a family, each after a blank; empty if there is nothing to say. */
  of(family: Family): string {
    return this.#absencesOf(family) + refusalsOf(family)
  }

  #absencesOf({ columns }: Family): string {
    const parts: [Holder, Mentions][] = []
    for (const { table, slots } of columns) {
      const fields = this.#absences.get(table.type.name)
      if (fields === undefined) continue
      for (const field of ['', ...slots.map(({ name }) => name)]) parts.push(...(fields.get(field) ?? []))
    }
    if (parts.length === 0) return ''
    const holders = new Set(columns.flatMap(({ table }) => [...table.held.keys()]))
    const shown = parts.flatMap(([holder, mentions]) => (mayNote(holder, holders) ? mentions : []))
    return Mentions.joined(shown).text('Absent')
  }
}

function refusalsOf({ refused }: Family): string {
  if (refused.size === 0) return ''
  const mentions = new Mentions()
  let order = 0
  for (const { table, fields, reason } of refused) {
    if (order === REFUSALS_IN_WORDS) break
    mentions.add(reason(), `${table.type.name}.${fields.slots[0].name}`, order++)
  }
  const left = refused.size - order
  return mentions.text('Refused') + (left === 0 ? '' : ` Refused for ${left} more fields.`)
}

/**
 * Whether HELP of a family whose series these hold says what a holder reports absent: a client writes nothing about the
 * series of others.
 */
function mayNote(holder: Holder, holders: ReadonlySet<Holder>): boolean {
  if (holder === undefined || holders.size === 0) return true
  return holders.has(holder) && !holders.has(undefined)
}

/**
 * A sentence without its full stop. A regular expression that ends in `$` takes quadratic time for stops that stand
 * elsewhere.
 */
export function withoutStop(text: string): string {
  let end = text.length
  while (end > 0 && /[.\s]/.test(text.charAt(end - 1))) end--
  return text.slice(0, end)
}
