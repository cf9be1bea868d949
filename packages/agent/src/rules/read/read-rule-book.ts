import { SondeError } from '@sonde/sdk'
import type { RuleBook } from '../rule.ts'
import { FILE_KEYS } from './language.ts'
import { RULE_LIMITS, type RuleLimits } from './limits.ts'
import { type JsonNode, parseExactJson } from './parse-json.ts'
import { FaultList, objectMembers, readKeys } from './read-object.ts'
import { readRules } from './read-rules.ts'
import { checkUniqueNames, type ReadSignal, readDataIds, readSignals } from './read-signals.ts'
import { RuleFaults } from './rule-faults.ts'
import { ruleWarnings } from './warnings.ts'

/** A valid file of rules. */
export interface ReadRules {
  readonly book: RuleBook
  /** One sentence for each entry that is allowed but probably a mistake. */
  readonly warnings: readonly string[]
}

const KEYS = [...FILE_KEYS.map(({ name }) => name), 'data-ids', 'data_ids', 'signals', 'rules']

/**
 * Reads a file of rules strictly: unknown keys are refused, and nothing is guessed.
 * @param text The file as decoded UTF-8.
 * @throws SondeError `RUL_LIMIT` if it is too large, `RUL_SYNTAX` if it is not JSON; {@link RuleFaults} with all other
 * faults.
 */
export function readRuleBook(text: string, limits: RuleLimits = RULE_LIMITS): ReadRules {
  const sizeBytes = Buffer.byteLength(text)
  if (sizeBytes > limits.fileBytes)
    throw new SondeError('RUL_LIMIT', `${sizeBytes} bytes of rules; allowed: at most ${limits.fileBytes} bytes`)
  const faults = new FaultList(limits)
  const read = readFile(parseExactJson(text), faults)
  if (read === undefined || faults.faults.length > 0) throw new RuleFaults(faults.faults)
  return read
}

function readFile(root: JsonNode, faults: FaultList): ReadRules | undefined {
  const members = objectMembers(root, '', KEYS, faults)
  if (members === undefined) return undefined
  if (members.has('data-ids') && members.has('data_ids'))
    faults.add('data_ids', 'and data-ids mean the same', 'only one of them')
  const idsKey = members.has('data-ids') ? 'data-ids' : 'data_ids'
  const idsNode = members.get(idsKey)
  const keys = FILE_KEYS.map((key) => {
    const isNeeded = key.name !== 'diag_sample_period_ns' || idsNode !== undefined
    return isNeeded ? key : { ...key, fallback: 'none' }
  })
  const values = readKeys(members, keys, '', faults)
  const samplePeriodNs = Number(values.get('diag_sample_period_ns') ?? 0)
  const historySamples = Number(values.get('sample_history_depth') ?? 1)
  const signals = readAllSignals(members, idsKey, faults)
  const rulesNode = members.get('rules')
  if (rulesNode === undefined) {
    faults.add('rules', 'is missing', `a list of 1 to ${faults.limits.rules} rules`)
    return undefined
  }
  const rules = readRules(rulesNode, 'rules', { signals, historySamples, faults })
  checkUniqueNames(namedPlaces(rulesNode, 'rules'), faults)
  const book = { samplePeriodNs, historySamples, signals: signals.map(({ signal }) => signal), rules }
  return { book, warnings: faults.faults.length > 0 ? [] : ruleWarnings(book, signals) }
}

function readAllSignals(
  members: ReadonlyMap<string, JsonNode>,
  idsKey: string,
  faults: FaultList,
): readonly ReadSignal[] {
  const ids = members.get(idsKey)
  const others = members.get('signals')
  if (ids === undefined && others === undefined)
    faults.add('data-ids', 'is missing, and so is signals', 'at least one of them')
  const signals = [
    ...(ids === undefined ? [] : readDataIds(ids, idsKey, faults)),
    ...(others === undefined ? [] : readSignals(others, 'signals', faults)),
  ]
  if (signals.length > faults.limits.signals)
    faults.add('signals', `and ${idsKey} have ${signals.length} entries`, `at most ${faults.limits.signals} together`)
  const places = [
    ...(ids === undefined ? [] : namedPlaces(ids, idsKey)),
    ...(others === undefined ? [] : namedPlaces(others, 'signals')),
  ]
  checkUniqueNames(places, faults)
  return signals
}

/** The names in a list, with their places. */
function namedPlaces(node: JsonNode, path: string): { name: string; place: string }[] {
  if (node.kind !== 'array') return []
  return node.items.flatMap((item, index) => {
    if (item.kind !== 'object') return []
    const name = item.members.find(({ key }) => key === 'name')?.value
    return name?.kind === 'text' ? [{ name: name.value, place: `${path}[${index}]` }] : []
  })
}
