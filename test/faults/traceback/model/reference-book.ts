import type { ReferenceBook } from '../../../../packages/agent/test/reference/reference-log.ts'
import type { ReferenceKind } from '../../../../packages/agent/test/reference/reference-rule.ts'

/** A value of a file as its parser hands it on. */
export type Node =
  | { readonly kind: 'null' }
  /** A whole number as it was written. */
  | { readonly kind: 'whole'; readonly text: string }
  /** A truth value, or a number with a fraction or an exponent, which keeps its text. */
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'array'; readonly items: readonly Node[] }
  /** Of equal keys the last counts. */
  | { readonly kind: 'object'; readonly members: readonly (readonly [key: string, value: Node])[] }

/** What the reference application makes of a file: a book, or the place of its first complaint, or where it crashes. */
export type ReferenceReading = { readonly book: ReferenceBook } | { readonly refusedAt: string }

const KINDS: Readonly<Record<string, ReferenceKind>> = {
  inc_gt: 'inc_gt',
  incremental_greater_than: 'inc_gt',
  dt_gt: 'dt_gt',
  differential_greater_than: 'dt_gt',
  dt_lt: 'dt_lt',
  differential_less_than: 'dt_lt',
  gt: 'gt',
  greater_than: 'gt',
  lt: 'lt',
  less_than: 'lt',
}
const TOP = 2n ** 64n
const DEPTH_MAX = 2 ** 30

class Refusal extends Error {}

/** Reads a configuration file behind its parser, as the reference application does. */
export function readReferenceBook(root: Node): ReferenceReading {
  try {
    return { book: bookOf(root) }
  } catch (error) {
    if (error instanceof Refusal) return { refusedAt: error.message }
    throw error
  }
}

function bookOf(root: Node): ReferenceBook {
  const samplePeriodNs = Number(BigInt.asUintN(32, toUnsigned(textAt(root, 'diag_sample_period_ns', ''), 10)))
  const depth = Number(BigInt.asUintN(32, toUnsigned(textAt(root, 'sample_history_depth', ''), 10)))
  const dataIds = itemsAt(root, 'data-ids').map((item, index) => {
    const path = `data-ids[${index}].`
    return { name: textAt(item, 'name', path), dataId: toUnsigned(textAt(item, 'data_id', path), 16) }
  })
  const rules = itemsAt(root, 'rules').map((item, index) => {
    const path = `rules[${index}].`
    const name = textAt(item, 'name', path)
    const dataId = toUnsigned(textAt(item, 'data_id', path), 16)
    const kind = KINDS[textAt(item, 'comparison_type', path)]
    if (kind === undefined) throw new Refusal(`${path}comparison_type`)
    return { name, dataId, kind, value: toUnsigned(textAt(item, 'comparison_value', path), 10) }
  })
  const isPowerOfTwo = Array.from({ length: 31 }, (_, power) => 2 ** power).includes(depth)
  if (!isPowerOfTwo || depth > DEPTH_MAX) throw new Refusal('sample_history_depth')
  for (const [index, { dataId }] of rules.entries()) {
    if (!dataIds.some((listed) => listed.dataId === dataId)) throw new Refusal(`rules[${index}].data_id`)
  }
  return { samplePeriodNs, depth, dataIds, rules }
}

function memberOf(node: Node, key: string, path: string): Node {
  const members = node.kind === 'object' ? node.members.filter(([name]) => name === key) : []
  const last = members.at(-1)
  // A null crashes the reference application; here that is a refusal.
  if (last === undefined || last[1].kind === 'null') throw new Refusal(`${path}${key}`)
  return last[1]
}

function itemsAt(node: Node, key: string): readonly Node[] {
  const list = memberOf(node, key, '')
  if (list.kind !== 'array' || list.items.length === 0) throw new Refusal(key)
  return list.items
}

/** A member as the text that the parser prints of it, up to its first NUL. */
function textAt(node: Node, key: string, path: string): string {
  const member = memberOf(node, key, path)
  switch (member.kind) {
    case 'string':
      return member.text.split('\0')[0] as string
    case 'literal':
      return member.text
    case 'whole': {
      const value = BigInt(member.text)
      if (value < -(2n ** 63n)) return String(-(2n ** 63n))
      return String(value >= TOP ? TOP - 1n : value)
    }
    default:
      throw new Error(`the model prints no ${member.kind}`)
  }
}

/** `strtoul` and `strtoull` of the C library. */
export function toUnsigned(text: string, base: 10 | 16): bigint {
  const spaces = '[ \\t\\n\\v\\f\\r]*'
  const pattern = base === 10 ? `^${spaces}([+-]?)([0-9]+)` : `^${spaces}([+-]?)(?:0[xX](?=[0-9a-fA-F]))?([0-9a-fA-F]+)`
  const match = new RegExp(pattern).exec(text)
  if (match === null) return 0n
  const value = BigInt(base === 10 ? (match[2] as string) : `0x${match[2]}`)
  if (value >= TOP) return TOP - 1n
  return match[1] === '-' ? BigInt.asUintN(64, -value) : value
}
