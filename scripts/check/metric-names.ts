// Names of metrics, types and fields in texts, compared with the golden list and with the declared types.

import { readFileSync } from 'node:fs'
import type { RecordType } from '@sonde/sdk'
import { SOURCES } from '../../packages/agent/src/sources/registry.ts'
import * as builtin from '../../packages/sdk/src/schema/builtin.ts'
import { declaredTypes } from '../docs/metric-list.ts'

const GOLDEN = new URL('../../test/house/metric-names.txt', import.meta.url)
const FAMILIES = 'netdev|ethtool|rdma|doca|pci|nvml|host|pod|app|shared|sonde'
/**
 * A word that begins as a metric does, and the field after it if it is a type. Names of files are no such words, nor
 * are those of recording rules: `instance:sonde_gpu_power_watts:sum`.
 */
const WORD = new RegExp(
  `(?<![\\w$./-])((?:${FAMILIES})_[a-z0-9_]+|DCGM_(?:FI|EXP)_[A-Z0-9_]+)(?:\\.([a-z][a-z0-9_]*))?(?![\\w(]|:[a-z])`,
  'g',
)
const SUFFIX = /_(bucket|sum|count)$/

/** Labels of each metric of the golden list. */
export function goldenMetrics(): ReadonlyMap<string, readonly string[]> {
  const lines = readFileSync(GOLDEN, 'utf8').trim().split('\n')
  return new Map(
    lines.map((line) => line.split(' ')).map(([name = '', , , labels = '']) => [name, namesOfLabels(labels)]),
  )
}

/** Labels of a line of the golden list; constant labels have their values there. */
function namesOfLabels(labels: string): string[] {
  return labels.split(',').map((label) => label.replace(/=.*/, ''))
}

/** Every type that Sonde declares, by name. */
export function typesByName(): ReadonlyMap<string, RecordType> {
  const own = Object.values(builtin).flatMap((one): RecordType[] =>
    typeof one === 'object' && 'layout' in one ? [one as RecordType] : [],
  )
  const all = [...SOURCES.flatMap(({ types }) => types), ...declaredTypes().map(({ type }) => type), ...own]
  return new Map(all.map((type) => [type.name, type]))
}

/** What a text may name. */
export interface KnownNames {
  readonly metrics: ReadonlyMap<string, readonly string[]>
  readonly types: ReadonlyMap<string, Pick<RecordType, 'layout'>>
  /** Words that begin as a metric does and have another meaning. */
  readonly others: ReadonlySet<string>
}

/** The words of a text that name no metric, no type and no field, but look like it. */
export function findWrongNames(text: string, { metrics, types, others }: KnownNames): string[] {
  return [...text.matchAll(WORD)].flatMap(([whole, word = '', field]) => {
    const type = types.get(word)
    if (field !== undefined && type !== undefined)
      return type.layout.slots.some(({ name }) => name === field) ? [] : [whole]
    if (type !== undefined || metrics.has(word) || metrics.has(word.replace(SUFFIX, '')) || others.has(word)) return []
    // The beginning of the names of a family, as in a template or `pci_device_…`.
    const isBeginning = word.endsWith('_') && [...metrics.keys()].some((name) => name.startsWith(word))
    return isBeginning ? [] : [word]
  })
}

/** The labels in queries that their metrics do not have, as `metric{label}`. Looks into lists and objects. */
export function findWrongLabels(value: unknown, metrics: ReadonlyMap<string, readonly string[]>): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { metric, by, matchers, each } = value as Record<string, unknown>
  const asked = [by, each, Array.isArray(matchers) ? matchers.map(({ label }) => label) : []].flat()
  const labels = typeof metric === 'string' ? metrics.get(metric) : undefined
  const wrong = labels === undefined ? [] : asked.filter((label) => label !== undefined && !isLabel(label, labels))
  return [
    ...wrong.map((label) => `${metric}{${label}}`),
    ...Object.values(value).flatMap((inner) => findWrongLabels(inner, metrics)),
  ]
}

/** Sources may give all their records the label `simulated`. */
function isLabel(label: unknown, labels: readonly string[]): boolean {
  return label === 'simulated' || labels.includes(label as string)
}
