import { createHash } from 'node:crypto'
import { basename, extname } from 'node:path'
import { parse, stringify } from 'yaml'
import { ConfigError } from '../../config/config-error.ts'

/** YAML as Kubernetes and Helm read it, where `yes` and `on` are true. */
export const YAML_OPTIONS = { version: '1.1', lineWidth: 0 } as const

/** A block of values. */
export type Block = Record<string, unknown>

// biome-ignore lint/suspicious/noExplicitAny: each function checks nothing; the templates are ours, and tests run all.
type TemplateFunction = (...args: any[]) => unknown

/** Functions of Helm that the chart uses, with the meaning that Helm gives them. */
export const FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  base: (path: string) => basename(path),
  contains: (part: string, text: string) => text.includes(part),
  default: (fallback: unknown, value: unknown) => (isTrue(value) ? value : fallback),
  dict: (...pairs: unknown[]) =>
    Object.fromEntries(pairs.flatMap((key, i) => (i % 2 === 0 ? [[String(key), pairs[i + 1]]] : []))),
  ext: (path: string) => extname(path),
  eq: (left: unknown, right: unknown) => left === right,
  fail(message: string) {
    throw new ConfigError([message])
  },
  fromYaml: (text: string) => parse(text, YAML_OPTIONS) ?? {},
  has: (item: unknown, list: readonly unknown[]) => list.includes(item),
  index: (value: never, ...keys: never[]) => keys.reduce((inner, key) => inner?.[key], value),
  join: (separator: string, list: readonly unknown[]) => list.map(printed).join(separator),
  list: (...items: unknown[]) => items,
  mergeOverwrite: (target: Block, ...others: Block[]) => others.reduce(mergeValues, target),
  nindent: (count: number, text: string) => `\n${text.replace(/^/gm, ' '.repeat(count))}`,
  not: (value: unknown) => !isTrue(value),
  omit: (block: Block, ...keys: string[]) =>
    Object.fromEntries(Object.entries(block).filter(([key]) => !keys.includes(key))),
  printf(format: string, ...args: unknown[]) {
    let next = 0
    return format.replace(/%[sv]/g, () => printed(args[next++]))
  },
  quote: (value: unknown) => JSON.stringify(printed(value)),
  replace: (part: string, by: string, text: string) => text.replaceAll(part, by),
  sha256sum: (text: string) => createHash('sha256').update(text).digest('hex'),
  ternary: (yes: unknown, no: unknown, condition: boolean) => (condition ? yes : no),
  toJson: (value: unknown) => goJson(value),
  toYaml: (value: unknown) => stringify(value, YAML_OPTIONS).trimEnd(),
  trimSuffix: (end: string, text: string) => (end !== '' && text.endsWith(end) ? text.slice(0, -end.length) : text),
  trunc: (count: number, text: string) => text.slice(0, count),
}

/** Whether a value counts as true: not if it is zero or empty. */
export function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (value !== null && typeof value === 'object') return Object.keys(value).length > 0
  return Boolean(value)
}

/** A value as it is printed; nothing for a missing value. */
export function printed(value: unknown): string {
  return value === undefined || value === null ? '' : String(value)
}

/** Merges a block into another, block by block: other values replace. Returns the first. */
export function mergeValues(target: Block, other: Block): Block {
  for (const [key, value] of Object.entries(other)) {
    const own = target[key]
    if (isBlock(own) && isBlock(value)) target[key] = mergeValues({ ...own }, value)
    else target[key] = value
  }
  return target
}

/** Whether a value is a block, not a list. */
export function isBlock(value: unknown): value is Block {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

const ESCAPES: Readonly<Record<string, string>> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' }

/** JSON as Go writes it: keys in order, and escapes for HTML. A digest of it is that of Helm. */
function goJson(value: unknown): string {
  const sorted = (_key: string, inner: unknown) =>
    isBlock(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner
  return JSON.stringify(value, sorted).replace(/[<>&]/g, (sign) => ESCAPES[sign] ?? sign)
}
