import { Missing } from '../field-absences.ts'

/** Priorities of a port. */
const PRIORITIES = 8
const DSCP_MAX = 63
/** A selector of a packet, such as `dscp` or `stream-port`. */
const SELECTOR = /^[a-z][a-z-]{0,15}$/

/** What `dcb app` shows. */
export interface DcbApp {
  readonly dscp_priorities: string
  readonly default_priority: number | undefined
}

/** Parses `dcb -j pfc show`; the mask has a bit for each priority with flow control. */
export function parsePfc(output: string): number | Missing {
  const flags = objectIn(output)?.prio_pfc
  if (!Array.isArray(flags) || flags.length !== PRIORITIES || !flags.every((flag) => typeof flag === 'boolean'))
    return unreadable('pfc', output)
  return flags.reduce((mask: number, flag, priority) => mask | (Number(flag) << priority), 0)
}

/** Parses `dcb -N -j app show`. An empty table prints an empty object. */
export function parseApp(output: string): DcbApp | Missing {
  const found = objectIn(output)
  const { dscp_prio: pairs = [], default_prio: defaults = [] } = found ?? {}
  if (found === undefined || !Array.isArray(pairs) || !Array.isArray(defaults)) return unreadable('app', output)
  if (!pairs.every(isPair) || !defaults.every(isPriority)) return unreadable('app', output)
  return {
    dscp_priorities: rangesOf(pairs) || 'none',
    // Of several entries the kernel takes the highest.
    default_priority: defaults.length > 0 ? Math.max(...defaults) : undefined,
  }
}

/** Parses `dcb -j apptrust show`. */
export function parseTrust(output: string): string | Missing {
  const order = objectIn(output)?.order
  const isOrder =
    Array.isArray(order) && order.every((selector) => typeof selector === 'string' && SELECTOR.test(selector))
  if (!isOrder) return unreadable('apptrust', output)
  return order.slice(0, PRIORITIES).join(' ') || 'none'
}

/** Neighbours with the same priority in one word: `0-7:0 26:3`. */
function rangesOf(pairs: readonly (readonly [dscp: number, priority: number])[]): string {
  const ranges: { first: number; last: number; priority: number }[] = []
  for (const [dscp, priority] of pairs.toSorted(([a, first], [b, second]) => first - second || a - b)) {
    const before = ranges.at(-1)
    if (before?.priority === priority && dscp <= before.last + 1) before.last = dscp
    else ranges.push({ first: dscp, last: dscp, priority })
  }
  return ranges
    .toSorted((a, b) => a.first - b.first)
    .map(({ first, last, priority }) => `${first === last ? first : `${first}-${last}`}:${priority}`)
    .join(' ')
}

function isPair(pair: unknown): pair is readonly [number, number] {
  return Array.isArray(pair) && pair.length === 2 && isWhole(pair[0], DSCP_MAX) && isPriority(pair[1])
}

function isPriority(value: unknown): value is number {
  return isWhole(value, PRIORITIES - 1)
}

function isWhole(value: unknown, max: number): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= max
}

function objectIn(output: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(output)
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}

function unreadable(object: string, output: string): Missing {
  const start = JSON.stringify(output.trim().slice(0, 80))
  return new Missing('failed', `dcb ${object} printed what cannot be read: ${start}`)
}

/** Explains a refusal of `dcb` by the first line that it prints. */
export function dcbRefusal(line: string): Missing | undefined {
  if (line.endsWith('Operation not supported'))
    return new Missing('unsupported', 'the driver of the interface has no quality of service to show')
  if (line.startsWith('Attribute not found')) return new Missing('unsupported', 'the driver or the kernel has none')
  if (/^Object "\w+" is unknown/.test(line))
    return new Missing('unsupported', 'this dcb does not know it: iproute2 6.2 or newer does')
  if (line.endsWith('No such device'))
    return new Missing('unsupported', 'the kernel knows no such interface in this network namespace')
  return undefined
}
