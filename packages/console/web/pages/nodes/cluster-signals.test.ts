import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { CLUSTER_SIGNALS, nodeLines, RAW_WINDOW_MS } from './cluster-signals.ts'

const RULES = new URL('../../../../../deploy/prometheus/rules/cluster.yaml', import.meta.url)

test('each signal is recorded by a rule that aggregates the same metric in the same way', () => {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as { groups: { rules: { record: string; expr: string }[] }[] }
  const rules = new Map(groups.flatMap((group) => group.rules.map(({ record, expr }) => [record, expr])))
  for (const { recorded, raw } of CLUSTER_SIGNALS) {
    const inner = raw.function === 'rate' ? `rate(${raw.metric}[1m])` : raw.metric
    assert.equal(rules.get(recorded), `${raw.aggregate} by (cluster, instance) (${inner})`, recorded)
  }
})

test('a window beyond an hour reads recorded series, if the server has them', () => {
  const [signal = assert.fail()] = CLUSTER_SIGNALS
  const metricsOf = (windowMs: number, isKnown: boolean) => [
    ...new Set(nodeLines(signal, windowMs, () => isKnown).map(({ query }) => query.metric)),
  ]
  assert.deepEqual(metricsOf(RAW_WINDOW_MS, true), [signal.raw.metric])
  assert.deepEqual(metricsOf(RAW_WINDOW_MS + 1, true), [signal.recorded])
  assert.deepEqual(metricsOf(RAW_WINDOW_MS + 1, false), [signal.raw.metric])
})
