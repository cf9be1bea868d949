// Files of rules for the reference application, with everything that it merely tolerates, and now and then a fault.

import type { SignalRule } from '../../../packages/agent/src/rules/rule.ts'
import type { Random } from '../../../packages/sdk/test/random.ts'
import type { Node } from './model/reference-book.ts'

const NAMES = ['rx', 'a, b', 'say "hi"', 'two\nlines', '\ttab', 'é🎛', 'cut\0here', '', '<<Event end>>', '\\']
const LONG = {
  inc_gt: 'incremental_greater_than',
  dt_gt: 'differential_greater_than',
  dt_lt: 'differential_less_than',
  gt: 'greater_than',
  lt: 'less_than',
} as const
const JUNK: readonly Node[] = [
  { kind: 'null' },
  { kind: 'literal', text: 'true' },
  { kind: 'string', text: 'text' },
  { kind: 'array', items: [] },
  { kind: 'whole', text: '3' },
]

/** What a file says. */
export interface FileParts {
  readonly samplePeriodNs: number
  readonly depth: number
  readonly dataIds: readonly bigint[]
  readonly rules: readonly SignalRule[]
}

/** A file that says so, in any spelling; `faultChance` is how likely something of it is taken away or another. */
export function anyFile(random: Random, parts: FileParts, { faultChance }: { readonly faultChance: number }): Node {
  const dataIds = parts.dataIds.map((dataId) =>
    objectOf([
      ['name', anyName(random)],
      ['data_id', anyId(random, dataId)],
    ]),
  )
  const rules = parts.rules.map(({ signal, test }) => {
    const { kind, value } = test as { readonly kind: keyof typeof LONG; readonly value: bigint }
    return objectOf([
      ['name', anyName(random)],
      ['data_id', anyId(random, parts.dataIds[signal] as bigint)],
      ['comparison_type', { kind: 'string', text: random.chance(0.5) ? kind : LONG[kind] }],
      ['comparison_value', anyNumber(random, value)],
    ])
  })
  const root = objectOf([
    ['diag_sample_period_ns', anyNumber(random, BigInt(parts.samplePeriodNs), 32n)],
    ['sample_history_depth', anyNumber(random, BigInt(parts.depth), 32n)],
    ['data-ids', { kind: 'array', items: dataIds }],
    ['rules', { kind: 'array', items: rules }],
  ])
  return random.chance(faultChance) ? damaged(random, root) : disguised(random, root)
}

/** As JSON, which every parser reads alike. */
export function jsonText(node: Node): string {
  switch (node.kind) {
    case 'null':
      return 'null'
    case 'string':
      return JSON.stringify(node.text)
    case 'array':
      return `[${node.items.map(jsonText).join(',')}]`
    case 'object':
      return `{${node.members.map(([key, value]) => `${JSON.stringify(key)}: ${jsonText(value)}`).join(',\n')}}`
    default:
      return node.text
  }
}

function objectOf(members: readonly (readonly [string, Node])[]): Extract<Node, { kind: 'object' }> {
  return { kind: 'object', members }
}

function anyName(random: Random): Node {
  if (random.chance(0.1))
    return random.pick<Node>([
      { kind: 'whole', text: '-7' },
      { kind: 'literal', text: '1.50' },
    ])
  return { kind: 'string', text: random.pick(NAMES) + (random.chance(0.5) ? String(random.integer(0, 9)) : '') }
}

function anyId(random: Random, dataId: bigint): Node {
  const digits = dataId.toString(16)
  if (/^[1-9][0-9]{0,17}$/.test(digits) && random.chance(0.3)) return { kind: 'whole', text: digits }
  const text = random.pick([
    digits,
    `0x${digits}`,
    `0X${digits.toUpperCase()}`,
    ` 0x${digits}`,
    `${digits}zzz`,
    `+${digits}`,
  ])
  return { kind: 'string', text }
}

/** A number in any spelling that is read as it; `bits` is what is read of it. */
function anyNumber(random: Random, value: bigint, bits = 64n): Node {
  const above = bits === 32n && random.chance(0.2) ? value + (BigInt(random.integer(1, 9)) << 32n) : value
  const texts = [`${above}`, `  ${above}`, `+${above}`, `${above}e9`, `${above}.7`, `${above} ns`, `000${above}`]
  if (random.chance(0.4)) return { kind: 'string', text: random.pick(texts) }
  if (random.chance(0.1) && above < 2n ** 52n) return { kind: 'literal', text: `${above}.5` }
  // Below 0 it is read modulo 2^64.
  if (above > 2n ** 63n && random.chance(0.5)) return { kind: 'whole', text: `${above - 2n ** 64n}` }
  return { kind: 'whole', text: `${above}` }
}

/** With keys that nothing reads, and keys that stand there twice, the last of which counts. */
function disguised(random: Random, root: Extract<Node, { kind: 'object' }>): Node {
  const members = [...root.members]
  if (random.chance(0.3)) members.unshift([random.pick(members)[0], random.pick(JUNK)])
  if (random.chance(0.3)) members.push(['unknown', random.pick(JUNK)])
  return objectOf(members)
}

/** With one member taken away, or replaced by something else. */
function damaged(random: Random, node: Extract<Node, { kind: 'object' }>): Node {
  const at = random.integer(0, node.members.length - 1)
  const [key, value] = node.members[at] as readonly [string, Node]
  if (value.kind === 'array' && value.items.length > 0 && random.chance(0.7)) {
    const index = random.integer(0, value.items.length - 1)
    const item = value.items[index] as Extract<Node, { kind: 'object' }>
    const items = value.items.with(index, damaged(random, item))
    return objectOf(node.members.with(at, [key, { kind: 'array', items }]))
  }
  if (random.chance(0.4)) return objectOf(node.members.toSpliced(at, 1))
  // Lists as text are printed with the spaces of the parser, which another test holds against the parser itself.
  const others = JUNK.filter(({ kind }) => kind !== 'array' || value.kind === 'array')
  return objectOf(node.members.with(at, [key, random.pick(others)]))
}
