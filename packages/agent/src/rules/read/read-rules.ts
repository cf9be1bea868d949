import { closest } from '@sonde/sdk/config'
import type { CombinationRule, Rule, SignalRule } from '../rule.ts'
import { allowedBy, type Key, NAME, U64_MAX } from './keys.ts'
import { COMBINATION_KEYS, COMBINATIONS, RULE_KINDS, type RuleKind, SIGNAL_REFERENCES, WITHIN } from './language.ts'
import type { JsonNode } from './parse-json.ts'
import { type FaultList, type FormValues, objectMembers, readForm, readKeys, shownNode } from './read-object.ts'
import { dataIdsInPlaceOf, listItems, type ReadSignal } from './read-signals.ts'
import type { RuleValues } from './rule-values.ts'

const TYPE = 'comparison_type'
const SPELLINGS = [
  ...RULE_KINDS.flatMap(({ kind, long }) => (long === undefined ? [kind] : [kind, long])),
  ...COMBINATIONS,
]

/** The context in which rules are read. */
export interface RuleReading {
  readonly signals: readonly ReadSignal[]
  /** `sample_history_depth`. */
  readonly historySamples: number
  readonly faults: FaultList
}

/** Reads `rules` in the order of the file. Rules with faults are left out, so indexes are only valid without faults. */
export function readRules(node: JsonNode, path: string, reading: RuleReading): Rule[] {
  const items = listItems(node, path, reading.faults, 'rules', reading.faults.limits.rules)
  const names = items.map(({ item }) => ruleName(item))
  const isCombination = items.map(({ item }) => isCombinationType(ruleType(item)))
  return items.flatMap(({ item, place }): Rule[] => {
    const type = ruleType(item)
    const rule = isCombinationType(type)
      ? readCombination(item, place, type, { names, isCombination, faults: reading.faults })
      : readSignalRule(item, place, reading)
    return rule === undefined ? [] : [rule]
  })
}

function readSignalRule(item: JsonNode, place: string, reading: RuleReading): SignalRule | undefined {
  const { faults, signals } = reading
  const kind = ruleKind(item, place, faults)
  if (item.kind !== 'object') return undefined
  // Without a type, the allowed and required keys are unknown. Then only faults of the common keys are reported.
  const own = kind?.keys ?? []
  const allowed = kind === undefined ? RULE_KINDS.flatMap(({ keys }) => keys.map(named)) : own.map(named)
  const references = SIGNAL_REFERENCES.map(({ name }) => name)
  const known = [...new Set([NAME.name, ...references, TYPE, ...allowed])]
  const members = objectMembers(item, place, known, faults)
  if (members === undefined) return undefined
  const values = readKeys(members, [NAME, ...own], place, faults)
  const signal = readReference(members, place, reading)
  if (kind === undefined) return undefined
  const test = kind.make(new CheckedValues(values, { place, signal, reading }))
  if (signal === undefined) return undefined
  checkRatio(test, signal, place, reading)
  return { name: (values.get('name') ?? '') as string, signal: signals.indexOf(signal), test }
}

/** The type of a rule; undefined after a fault. */
function ruleKind(item: JsonNode, place: string, faults: FaultList): RuleKind | undefined {
  const allowed = `one of ${SPELLINGS.join(', ')}`
  if (item.kind !== 'object') {
    faults.add(place, `is ${shownNode(item)}`, 'an object')
    return undefined
  }
  const node = item.members.find(({ key }) => key === TYPE)?.value
  if (node === undefined) {
    faults.add(`${place}.${TYPE}`, 'is missing', allowed)
    return undefined
  }
  const type = node.kind === 'text' ? node.value : undefined
  const kind = type === undefined ? undefined : RULE_KINDS.find(({ kind, long }) => type === kind || type === long)
  if (kind === undefined) {
    const meant = type === undefined ? undefined : closest(type, SPELLINGS)
    const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
    faults.add(`${place}.${TYPE}`, `is ${shownNode(node)}${hint}`, allowed)
  }
  return kind
}

/** The signal that a rule watches: by `data_id` or by `signal`. */
function readReference(
  members: ReadonlyMap<string, JsonNode>,
  place: string,
  { signals, faults }: RuleReading,
): ReadSignal | undefined {
  const given = SIGNAL_REFERENCES.filter(({ name }) => members.has(name))
  const [key] = given
  if (key === undefined || given.length > 1) {
    const found = key === undefined ? 'has neither data_id nor signal' : 'has both data_id and signal'
    faults.add(place, found, 'exactly one of data_id and signal')
    return undefined
  }
  const node = members.get(key.name) as JsonNode
  const value = readForm(node, key.form, `${place}.${key.name}`, faults)
  if (value === undefined) return undefined
  const found = signals.find(({ signal }) => (key.name === 'data_id' ? signal.dataId : signal.name) === value)
  if (found === undefined)
    faults.add(
      `${place}.${key.name}`,
      `is ${shownNode(node)}, which no entry of the file has`,
      key.name === 'data_id'
        ? 'an ID of data-ids'
        : (dataIdsInPlaceOf(String(value)) ?? 'a name in data-ids or signals'),
    )
  return found
}

function checkRatio(test: SignalRule['test'], { signal }: ReadSignal, place: string, reading: RuleReading): void {
  if (test.kind !== 'ratio_gt' && test.kind !== 'ratio_lt') return
  const other = reading.signals[test.to]?.signal
  if (other === undefined) return
  const labelsOf = (labels: Readonly<Record<string, string>>) => JSON.stringify(Object.entries(labels).sort())
  if (other.type !== signal.type || labelsOf(other.labels) !== labelsOf(signal.labels))
    reading.faults.add(
      `${place}.to`,
      `is ${JSON.stringify(other.name)}, of other records than ${JSON.stringify(signal.name)}`,
      'a signal of the same type and labels',
    )
}

/**
 * The keys of a rule. Checks that need the signal are made here. A wrong key, and a rule without a known signal, get a
 * harmless value: such a rule is never used.
 */
class CheckedValues implements RuleValues {
  readonly #values: FormValues
  readonly #place: string
  readonly #signal: ReadSignal | undefined
  readonly #reading: RuleReading

  constructor(values: FormValues, of: { place: string; signal: ReadSignal | undefined; reading: RuleReading }) {
    this.#values = values
    this.#place = of.place
    this.#signal = of.signal
    this.#reading = of.reading
  }

  value(key: string): bigint | number {
    const digits = this.#values.get(key) as string | undefined
    if (digits === undefined) return 0
    const isDigits = /^\d+$/.test(digits)
    const known = this.#signal?.known
    // For an unknown type, plain digits are read as a whole number.
    if (known === undefined ? isDigits && BigInt(digits) <= U64_MAX : known.isWhole) {
      if (isDigits && BigInt(digits) <= U64_MAX) return BigInt(digits)
      const allowed = allowedBy({ kind: 'integer', min: 0n, max: U64_MAX, unit: '' })
      this.#reading.faults.add(`${this.#place}.${key}`, `is ${digits.slice(0, 100)}`, allowed)
      return 0n
    }
    return Number(digits)
  }

  number(key: string): number {
    return (this.#values.get(key) ?? 0) as number
  }

  samples(key: string, fallback = this.#reading.historySamples): number {
    return Number(this.#values.get(key) ?? fallback)
  }

  ns(key: string): number {
    return Math.round(this.number(key) * 1e6)
  }

  signal(key: string): number {
    const name = this.#values.get(key) as string | undefined
    if (name === undefined) return -1
    const index = this.#reading.signals.findIndex(({ signal }) => signal.name === name)
    if (index < 0)
      this.#reading.faults.add(
        `${this.#place}.${key}`,
        `is ${JSON.stringify(name)}, which no entry of the file has`,
        'a name in data-ids or signals',
      )
    return index
  }
}

interface Named {
  readonly names: readonly (string | undefined)[]
  readonly isCombination: readonly boolean[]
  readonly faults: FaultList
}

function readCombination(
  item: JsonNode,
  place: string,
  type: 'all_of' | 'any_of',
  { names, isCombination, faults }: Named,
): CombinationRule | undefined {
  const keys = [NAME, ...COMBINATION_KEYS, ...(type === 'all_of' ? [WITHIN] : [])]
  const members = objectMembers(item, place, [NAME.name, TYPE, ...keys.slice(1).map(named)], faults)
  if (members === undefined) return undefined
  const values = readKeys(members, keys, place, faults)
  const listed = (values.get('rules') ?? []) as readonly string[]
  const rules = listed.map((name, index) => {
    const rule = names.indexOf(name)
    const found = `is ${JSON.stringify(name)}`
    const path = `${place}.rules[${index}]`
    if (rule < 0) faults.add(path, `${found}, which no rule has`, 'the name of a rule of the file')
    else if (isCombination[rule] === true) faults.add(path, `${found}, a combination`, 'a rule on one signal')
    else if (listed.indexOf(name) < index) faults.add(path, `${found} again`, 'each rule once')
    return rule
  })
  const withinNs = Math.round(((values.get('within_ms') ?? 0) as number) * 1e6)
  return { name: (values.get('name') ?? '') as string, of: type === 'all_of' ? 'all' : 'any', rules, withinNs }
}

function isCombinationType(type: string | undefined): type is 'all_of' | 'any_of' {
  return COMBINATIONS.some((known) => known === type)
}

function ruleName(item: JsonNode): string | undefined {
  return textIn(item, NAME.name)
}

function ruleType(item: JsonNode): string | undefined {
  return textIn(item, TYPE)
}

function textIn(item: JsonNode, key: string): string | undefined {
  if (item.kind !== 'object') return undefined
  const value = item.members.find((member) => member.key === key)?.value
  return value?.kind === 'text' ? value.value : undefined
}

function named({ name }: Key): string {
  return name
}
