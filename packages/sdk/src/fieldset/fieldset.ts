import { sumSlotOf } from '../schema/histogram.ts'
import type { Slot } from '../schema/layout.ts'
import type { RecordType } from '../schema/record-type.ts'
import { type FieldSetKind, type FieldSetRules, parseFieldSet, type Section } from './parse.ts'
import { TokenIndex } from './token-index.ts'
import { type Expression, isWholeName, type Token } from './tokens.ts'

/** What of a type passes. */
export interface Projection {
  /**
   * The fields that pass, in the order of the record: those that were chosen, and with them its time and its labels.
   * Empty: nothing of the type.
   */
  readonly slots: readonly Slot[]
  /** Whether everything passes, so that records may be taken as they are. */
  readonly isWhole: boolean
  /** Whether a field passes. */
  has(slot: Slot): boolean
}

/** A filter of fields. A projection is made once for a type. */
export interface FieldSet {
  /** What of a type passes. */
  of(type: RecordType): Projection
  /**
   * Whether the set has something to say of a type; a `.fset` has not of types that no section of it names, and lets
   * nothing of them pass.
   */
  covers(type: RecordType): boolean
}

/**
 * Makes a filter of the text of a `.cset` or a `.fset`; `file` is what errors call it.
 *
 * @throws SondeError `SET_SYNTAX` or `SET_LIMIT` with file, line, column and what is allowed.
 * @example
 * const set = createFieldSet('cset', '^port+xmit\n^port+rcv', 'ports.cset')
 * const fields = set.of(type).slots.map(({ name }) => name)
 */
export function createFieldSet(kind: FieldSetKind, text: string, file: string): FieldSet {
  const rules = parseFieldSet(kind, text, file)
  return compiled(
    chooserOf(rules),
    (type) => rules.kind === 'cset' || rules.sections.length === 0 || sectionsOf(rules.sections, type).length > 0,
  )
}

/** Both filters of one name: the `.fset` decides on types that it has a section for, the `.cset` on all others. */
export function bothSets(cset: FieldSet, fset: FieldSet): FieldSet {
  return { of: (type) => (fset.covers(type) ? fset : cset).of(type), covers: () => true }
}

function compiled(chosen: (type: RecordType) => ReadonlySet<Slot>, covers: FieldSet['covers']): FieldSet {
  const known = new WeakMap<RecordType, Projection>()
  return {
    covers,
    of(type) {
      const projection = known.get(type) ?? projectionOf(type, chosen(type))
      known.set(type, projection)
      return projection
    },
  }
}

function projectionOf(type: RecordType, chosen: ReadonlySet<Slot>): Projection {
  const { slots } = type.layout
  const sums = new Set(
    slots.filter((slot) => slot.field.role === 'bucket' && chosen.has(slot)).map((slot) => sumSlotOf(type, slot)),
  )
  // A value without its time and its labels belongs to nothing.
  const goesAlong = (slot: Slot) => slot === type.time || type.labels.includes(slot) || sums.has(slot)
  const passing = chosen.size === 0 ? [] : slots.filter((slot) => chosen.has(slot) || goesAlong(slot))
  const set = new Set(passing)
  return Object.freeze({ slots: passing, isWhole: passing.length === slots.length, has: (slot: Slot) => set.has(slot) })
}

/** Which fields of a type a file chooses. */
function chooserOf(rules: FieldSetRules): (type: RecordType) => ReadonlySet<Slot> {
  if (rules.kind === 'cset') {
    const passes = rules.expressions.length === 0 ? () => true : matcherOf(rules.expressions)
    return ({ layout, metrics }) => new Set(layout.slots.filter(({ name }) => passes(metrics.get(name) ?? '')))
  }
  return (type) => {
    const { slots } = type.layout
    const sections = sectionsOf(rules.sections, type)
    const isWhole = rules.sections.length === 0 || sections.some(({ expressions }) => expressions.length === 0)
    if (isWhole) return new Set(slots)
    const passes = matcherOf(sections.flatMap(({ expressions }) => expressions))
    return new Set(slots.filter(({ name }) => passes(name)))
  }
}

function sectionsOf(sections: readonly Section[], { name }: RecordType): Section[] {
  return sections.filter(({ type, isPrefix }) => (isPrefix ? name.startsWith(type) : name === type))
}

/**
 * Whether a name fits any line. Whole names, of which long lists consist, are looked up; an empty name is none and
 * never fits.
 */
function matcherOf(expressions: readonly Expression[]): (name: string) => boolean {
  const wholes = new Set(expressions.filter(isWholeName).map(({ all: [token] }) => token?.text))
  const others = expressions.filter((expression) => !isWholeName(expression))
  const index = new TokenIndex(others.flatMap(({ all, none }) => [...all, ...none]))
  const sameOf = (tokens: readonly Token[]) => tokens.map((token) => index.same(token))
  const lines = others.map(({ all, none }) => ({ all: sameOf(all), none: sameOf(none) }))
  // Only lines of which a name has the longest token are worth a look, and those that ask for none.
  const byLongest = Map.groupBy(lines, ({ all }) => all.toSorted((a, b) => b.text.length - a.text.length)[0])
  return (name) => {
    if (name === '' || wholes.has(name)) return name !== ''
    const found = index.tokensOf(name)
    for (const longest of [undefined, ...found]) {
      for (const { all, none } of byLongest.get(longest) ?? [])
        if (all.every((token) => found.has(token)) && !none.some((token) => found.has(token))) return true
    }
    return false
  }
}
