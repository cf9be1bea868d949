import type { Rule } from '../../../packages/agent/src/rules/rule.ts'
import type { Case } from './compare.ts'

/** Makes a case smaller for as long as it fails: fewer rules, then fewer samples. */
export function shrink(each: Case, fails: (each: Case) => boolean): Case {
  let least = each
  const attempt = (smaller: Case) => {
    if (!fails(smaller)) return false
    least = smaller
    return true
  }
  for (const rule of each.rules) if (attempt({ ...each, rules: [rule] as readonly Rule[] })) break
  attempt({ ...least, isRingSmall: false })
  attempt({ ...least, chunkSamples: least.stream.samples.length })
  for (let size = least.stream.samples.length; size >= 1; size = Math.floor(size / 2)) {
    for (let at = least.stream.samples.length - size; at >= 0; at--) attempt(withoutSamples(least, at, size))
  }
  return least
}

function withoutSamples(each: Case, at: number, count: number): Case {
  const { stream } = each
  if (at + count > stream.samples.length || count === stream.samples.length) return each
  return { ...each, stream: { ...stream, samples: stream.samples.toSpliced(at, count) } }
}

/** A case as text. */
export function sayCase({ stream, rules, ...way }: Case): string {
  const watched = new Set(rules.flatMap((rule) => ('test' in rule ? [rule.signal, ...otherOf(rule)] : [])))
  const kept = (_: unknown, index: number) => watched.size === 0 || watched.has(index)
  const lines = [
    say(way),
    `signals ${say(stream.signals)}`,
    ...rules.map((rule) => `rule ${say(rule)}`),
    ...stream.samples.map(
      ({ number, timeNs, values }) => `sample ${number} at ${timeNs}: ${values.filter(kept).map(say).join(' ')}`,
    ),
  ]
  return lines.join('\n')
}

function otherOf(rule: Extract<Rule, { test: unknown }>): number[] {
  return 'to' in rule.test ? [rule.test.to] : []
}

function say(value: unknown): string {
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}n` : Object.is(part, -0) ? '-0' : part))
}
