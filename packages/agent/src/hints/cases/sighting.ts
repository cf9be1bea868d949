import type { Labels, SeriesQuery } from '@sonde/sdk'
import type { Look } from '../look/look.ts'
import type { Rule } from '../rules/rule.ts'
import type { Signal } from '../watch/signal.ts'

/** A query as hints tell it; what is left out has its default. */
export type Evidence = Pick<SeriesQuery, 'metric' | 'function' | 'matchers'>

/** The queries that show what a rule saw of a device: those of its signals that the device, or any on its node, has. */
export function evidenceOf(rule: Rule, look: Look): Evidence[] {
  return rule.shows.flatMap((signal): Evidence[] => {
    const own = look.labels(signal)
    const labels = own.length > 0 ? own : look.scope.looks.flatMap((other) => other.labels(signal))
    if (labels.length === 0) return []
    return [
      {
        metric: signal.metric,
        function: signal.reads === 'counter' ? 'rate' : 'last',
        matchers: [...matchersOf(common(labels), '='), ...wanted(signal)],
      },
    ]
  })
}

/** Names of metrics that a rule would have used and that are absent, then what no metric tells. */
export function lacksOf(rule: Rule, look: Look): string[] {
  // What a GPU does shows on the rails of its node too.
  const others = { node: look.scope.looks, gpu: look.scope.nics, nic: [], port: [] }[rule.of]
  const isThere = (signal: Signal) => look.has(signal) || others.some((other) => other.has(signal))
  // A series that appears with its first event is not absent before it.
  const absent = rule.uses
    .filter((signal) => signal.bornAfterMs === Number.POSITIVE_INFINITY && !isThere(signal))
    .map(({ metric }) => metric)
  return [...new Set([...absent, ...(rule.lacksAlways ?? [])])]
}

function wanted({ labels }: Signal): Evidence['matchers'] {
  return matchersOf(labels, Object.values(labels).some((value) => value.includes('|')) ? '=~' : '=')
}

function matchersOf(labels: Labels, op: '=' | '=~'): Evidence['matchers'] {
  return Object.entries(labels).map(([label, value]) => ({ label, op, value }))
}

/** The labels that all have, with the same value. */
function common([first = {}, ...others]: readonly Labels[]): Labels {
  return Object.fromEntries(
    Object.entries(first).filter(([name, value]) => others.every((labels) => labels[name] === value)),
  )
}
