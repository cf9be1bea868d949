import { Document, isCollection, isScalar, isSeq, type Scalar, visit, type YAMLSeq } from 'yaml'
import type { Loaded } from '../config/load.ts'
import { yamlPath } from '../config/yaml-path.ts'

/** Stands before an origin until the lines are aligned; no value can hold it, as YAML escapes control characters. */
const MARK = '\u0001'
const COLUMN_MAX = 60

/** The configuration that holds, as YAML that can be used as a file; each value is followed by where it came from. */
export function printConfig({ plain, originOf }: Loaded): string {
  const document = new Document(plain)
  visit(document, {
    Pair(_key, pair, ancestors) {
      const { value } = pair
      if (!isLeaf(value)) return
      if (isSeq(value)) value.flow = true
      value.comment = `${MARK}${originOf(yamlPath([...ancestors, pair]))}`
    },
  })
  return align(document.toString({ lineWidth: 0, flowCollectionPadding: false }).trimEnd().split('\n')).join('\n')
}

/** A value that has one origin: a scalar, or a list of scalars. */
function isLeaf(value: unknown): value is Scalar | YAMLSeq {
  return isScalar(value) || (isSeq(value) && !value.items.some((item) => isCollection(item)))
}

function align(lines: readonly string[]): string[] {
  const parts = lines.map((line) => line.split(` #${MARK}`))
  const column = Math.min(COLUMN_MAX, Math.max(...parts.map(([text = '']) => text.length)))
  return parts.map(([text = '', origin]) => (origin === undefined ? text : `${text.padEnd(column)}  # ${origin}`))
}
