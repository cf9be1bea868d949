import { sumSlotOf } from '../schema/histogram.ts'
import type { Slot } from '../schema/layout.ts'
import type { RecordType } from '../schema/record-type.ts'
import { type FieldSetKind, type FieldSetRules, parseFieldSet, type Section } from './parse.ts'
import { TokenIndex } from './token-index.ts'
import { type Expression, isWholeName, type Token } from './tokens.ts'

/** The part of a type that passes. */
export interface Projection {
  /**
   * The fields that pass, in the order of the record: the chosen fields, the time and the labels. Empty: the whole type
   * is left out.
   */
  readonly slots: readonly Slot[]
  /** Whether all fields pass, so that records can be used unchanged. */
  readonly isWhole: boolean
  /** Whether a field passes. */
  has(slot: Slot): boolean
}

/** A filter of fields. A projection is made once for a type. */
export interface FieldSet {
  /** The projection of a type. */
  of(type: RecordType): Projection
  /**
   * Whether the set decides on a type. A `.fset` does not decide on types without a section; alone, it lets nothing of
   * them pass.
   */
  covers(type: RecordType): boolean
}

/**
 * Makes a filter from the text of a `.cset` or a `.fset`. `file` is its name in errors.
 *
 * @throws SondeError `SET_SYNTAX` or `SET_LIMIT` with file, line, column and the allowed text.
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

/** Both filters of one name: the `.fset` decides on types with a section, the `.cset` on all others. */
export function bothSets(cset: FieldSet, fset: FieldSet): FieldSet {
  return { of: (type) => (fset.covers(type) ? fset : cset).of(type), covers: () => true }
}

/** The fields of class `core`. Types without such a field are left out. */
export const CORE_SET: FieldSet = compiled(
  ({ layout }) => new Set(layout.slots.filter(({ field }) => !goesAlong(field) && field.class !== 'full')),
  () => true,
)

const coreParts = new WeakMap<FieldSet, FieldSet>()

/** The fields of class `core` that pass a filter: always the same object for a filter, because caches use it as key. */
export function coreOf(set: FieldSet | undefined): FieldSet {
  if (set === undefined) return CORE_SET
  const part = coreParts.get(set) ?? compiled((type) => chosenOf(CORE_SET.of(type), set.of(type)), set.covers)
  coreParts.set(set, part)
  return part
}

/** The fields that both projections have, without time and labels. */
function chosenOf(one: Projection, other: Projection): ReadonlySet<Slot> {
  return new Set(one.slots.filter((slot) => other.has(slot) && !goesAlong(slot.field)))
}

function goesAlong({ role }: Slot['field']): boolean {
  return role === 'timestamp' || role === 'label'
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
  // A value without time and labels has no series.
  const passes = (slot: Slot) => chosen.has(slot) || goesAlong(slot.field) || sums.has(slot)
  const passing = chosen.size === 0 ? [] : slots.filter(passes)
  const set = new Set(passing)
  return Object.freeze({ slots: passing, isWhole: passing.length === slots.length, has: (slot: Slot) => set.has(slot) })
}

/** The fields of a type that a file chooses. */
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
 * Whether a name matches any line. Lines with a whole name, which make up long lists, are looked up in a set. An empty
 * name never matches.
 */
function matcherOf(expressions: readonly Expression[]): (name: string) => boolean {
  const wholes = new Set(expressions.filter(isWholeName).map(({ all: [token] }) => token?.text))
  const others = expressions.filter((expression) => !isWholeName(expression))
  const index = new TokenIndex(others.flatMap(({ all, none }) => [...all, ...none]))
  const sameOf = (tokens: readonly Token[]) => tokens.map((token) => index.same(token))
  const lines = others.map(({ all, none }) => ({ all: sameOf(all), none: sameOf(none) }))
  // Compares only lines whose longest token is in the name, and lines without a required token.
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
