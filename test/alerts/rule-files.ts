// The files of rules for Prometheus, and their tests for promtool.

import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { metricNames } from '../../scripts/docs/metric-list.ts'

/** Folder of the rules; that of their tests is in it. */
export const RULES_FOLDER = new URL('../../deploy/prometheus/rules/', import.meta.url)

/** A rule that records or alerts. */
export interface Rule {
  readonly alert?: string
  readonly expr: string
  readonly for?: string
  readonly labels?: { readonly severity: string; readonly component: string }
  readonly annotations?: Readonly<Record<string, string>>
}

/** A test of promtool, as far as these files use it. */
export interface RuleTest {
  readonly name: string
  readonly interval: string
  readonly input_series: readonly { readonly series: string; readonly values: string }[]
  readonly promql_expr_test: readonly {
    readonly expr: string
    readonly eval_time: string
    readonly exp_samples: readonly { readonly labels: string; readonly value: number }[]
  }[]
}

/** The rules of a file such as `gpu`, in order. */
export function rulesOf(file: string): Rule[] {
  const { groups } = parseFile<{ groups: { rules: Rule[] }[] }>(`${file}.yaml`)
  return groups.flatMap(({ rules }) => rules)
}

/** Metrics of Sonde that the rules of a file read, without the suffix of histograms. */
export function metricsOf(file: string): string[] {
  const words = new Set(rulesOf(file).flatMap(({ expr }) => expr.match(/\w+/g) ?? []))
  const names = metricNames()
    .split('\n')
    .map((line) => line.split(' ')[0] ?? '')
  return names.filter((name) => words.has(name) || words.has(`${name}_bucket`))
}

/** The tests of a file such as `gpu`. */
export function testsOf(file: string): RuleTest[] {
  return parseFile<{ tests: RuleTest[] }>(`tests/${file}.yaml`).tests
}

function parseFile<T>(path: string): T {
  return parse(readFileSync(new URL(path, RULES_FOLDER), 'utf8')) as T
}
