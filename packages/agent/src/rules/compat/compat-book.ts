import { SondeError } from '@sonde/sdk'
import { docaDiagSampleType, sampleFieldOf } from '../../sources/doca-telemetry-diag/type.ts'
import type { RuleBook, SignalRule, Test } from '../rule.ts'
import { strtoul } from './c-number.ts'
import { type LenientNode, parseLenient, untilNul } from './lenient-json.ts'
import { printedString } from './printed-node.ts'

/** A file of rules as the reference application understands it. Texts are bytes as characters (latin1). */
export interface CompatBook {
  /** For the walk: only rules on single signals, with the columns of {@link header}. */
  readonly rules: RuleBook & { readonly rules: readonly SignalRule[] }
  /** For the head of the log. */
  readonly header: {
    readonly historySamples: number
    readonly samplePeriodNs: number
    readonly dataIds: readonly { readonly name: string; readonly id: bigint }[]
    readonly rules: readonly {
      readonly name: string
      readonly dataId: bigint
      readonly type: string
      readonly value: bigint
    }[]
  }
}

type ReferenceKind = 'gt' | 'lt' | 'inc_gt' | 'dt_gt' | 'dt_lt'

/** Accepted spellings, with the kind of rule and the word in the log. */
const TYPES: Readonly<Record<string, readonly [kind: ReferenceKind, printed: string]>> = {
  inc_gt: ['inc_gt', 'incremental'],
  incremental_greater_than: ['inc_gt', 'incremental'],
  dt_gt: ['dt_gt', 'differential_greater_than'],
  differential_greater_than: ['dt_gt', 'differential_greater_than'],
  dt_lt: ['dt_lt', 'differential_less_than'],
  differential_less_than: ['dt_lt', 'differential_less_than'],
  gt: ['gt', 'greater_than'],
  greater_than: ['gt', 'greater_than'],
  lt: ['lt', 'less_than'],
  less_than: ['lt', 'less_than'],
}

const DEPTH_MAX = 2 ** 30

/**
 * Reads a file of rules as leniently as the reference application. A file that would crash the reference application is
 * an error.
 * @param bytes The file; each byte is a character.
 * @throws SondeError `RUL_COMPAT` with the first fault, in the reference's order.
 */
export function readCompatBook(bytes: string): CompatBook {
  const root = parseLenient(bytes)
  const samplePeriodNs = uint32(root, 'diag_sample_period_ns', '')
  const historySamples = uint32(root, 'sample_history_depth', '')
  const dataIds = memberItems(root, 'data-ids').map((item, index) => {
    const place = `data-ids[${index}].`
    return { name: memberText(item, 'name', place), id: strtoul(memberText(item, 'data_id', place), 16) }
  })
  const rules = memberItems(root, 'rules').map((item, index) => compatRule(item, `rules[${index}].`))
  if (historySamples < 1 || historySamples > DEPTH_MAX || (historySamples & (historySamples - 1)) !== 0)
    throw fault(`sample_history_depth is ${historySamples}`, `a power of two from 1 to ${DEPTH_MAX}`)
  const walked = rules.map(({ name, dataId, kind, value }, index): SignalRule => {
    const signal = dataIds.findIndex(({ id }) => id === dataId)
    if (signal < 0) throw fault(`rules[${index}].data_id is ${hex(dataId)}`, 'an ID of data-ids')
    return { name, signal, test: ruleTest(kind, value, historySamples) }
  })
  const signals = dataIds.map(({ name, id: dataId }) => {
    return { name, type: docaDiagSampleType.name, field: sampleFieldOf(dataId), labels: {}, dataId }
  })
  const header = rules.map(({ name, dataId, printed, value }) => ({ name, dataId, type: printed, value }))
  return {
    rules: { samplePeriodNs, historySamples, signals, rules: walked },
    header: { historySamples, samplePeriodNs, dataIds, rules: header },
  }
}

function compatRule(item: LenientNode, place: string) {
  const name = memberText(item, 'name', place)
  const dataId = strtoul(memberText(item, 'data_id', place), 16)
  const type = memberText(item, 'comparison_type', place)
  const value = strtoul(memberText(item, 'comparison_value', place), 10)
  const known = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined
  if (known === undefined)
    throw fault(`${place}comparison_type is ${JSON.stringify(type.slice(0, 100))}`, Object.keys(TYPES).join(', '))
  const [kind, printed] = known
  return { name, dataId, kind, printed, value }
}

/** The depth is the history, the window and the hysteresis. */
function ruleTest(kind: ReferenceKind, value: bigint, depth: number): Test {
  if (kind === 'inc_gt') return { kind, value }
  if (kind === 'gt' || kind === 'lt') return { kind, value, onSamples: depth, offSamples: depth }
  return { kind, value, overSamples: depth, offSamples: depth }
}

function uint32(node: LenientNode, key: string, place: string): number {
  return Number(BigInt.asUintN(32, strtoul(memberText(node, key, place), 10)))
}

/** A field as text, which ends at a NUL. */
function memberText(node: LenientNode, key: string, place: string): string {
  const member = objectMember(node, key)
  if (member === undefined) throw fault(`${place}${key} is missing`, 'a value')
  const text = printedString(member)
  if (text === undefined) throw fault(`${place}${key} is null, which crashes the reference application`, 'a value')
  return untilNul(text)
}

function memberItems(node: LenientNode, key: string): readonly LenientNode[] {
  const member = objectMember(node, key)
  if (member?.kind !== 'array' || member.items.length === 0)
    throw fault(`${key} ${member === undefined ? 'is missing' : 'is no list, or is empty'}`, 'a list of at least one')
  return member.items
}

function objectMember(node: LenientNode, key: string): LenientNode | undefined {
  return node.kind === 'object' ? node.members.get(key) : undefined
}

function hex(id: bigint): string {
  return `0x${id.toString(16).padStart(16, '0')}`
}

function fault(found: string, allowed: string): SondeError {
  return new SondeError('RUL_COMPAT', `${found}; allowed: ${allowed}`)
}
