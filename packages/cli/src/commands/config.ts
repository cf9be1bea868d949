import { Document, isCollection, isMap, isScalar, isSeq, type Scalar, visit, type YAMLMap, type YAMLSeq } from 'yaml'
import type { Loaded } from '../config/load.ts'
import { yamlPath } from '../config/yaml-path.ts'

/**
 * Separates a value from its origin until the lines are aligned. No value contains it, because YAML escapes control
 * characters.
 */
const MARK = '\u0001'
const COLUMN_MAX = 60

/** The effective configuration, as YAML that can be used as a file. Each value is followed by its origin. */
export function printConfig({ plain, originOf }: Loaded): string {
  const document = new Document(plain)
  visit(document, {
    Pair(_key, pair, ancestors) {
      const { value } = pair
      if (!isLeaf(value)) return
      if (isCollection(value)) value.flow = true
      value.comment = `${MARK}${originOf(yamlPath([...ancestors, pair]))}`
    },
  })
  return align(document.toString({ lineWidth: 0, flowCollectionPadding: false }).trimEnd().split('\n')).join('\n')
}

/** A value with a single origin: a scalar, a list of scalars, or an empty block. */
function isLeaf(value: unknown): value is Scalar | YAMLSeq | YAMLMap {
  return (
    isScalar(value) ||
    (isMap(value) && value.items.length === 0) ||
    (isSeq(value) && !value.items.some((item) => isCollection(item)))
  )
}

function align(lines: readonly string[]): string[] {
  const parts = lines.map((line) => line.split(` #${MARK}`))
  const column = Math.min(COLUMN_MAX, Math.max(...parts.map(([text = '']) => text.length)))
  return parts.map(([text = '', origin]) => (origin === undefined ? text : `${text.padEnd(column)}  # ${origin}`))
}
