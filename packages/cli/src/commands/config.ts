import { Document, isCollection, isScalar, isSeq, type Scalar, visit, type YAMLSeq } from 'yaml'
import type { Loaded } from '../config/load.ts'

/** Stands before an origin until the lines are aligned; no value can hold it, as YAML escapes control characters. */
const MARK = '\u0001'
const COLUMN_MAX = 60

/** The configuration that holds, as YAML that can be used as a file; each value is followed by where it came from. */
export function printConfig({ plain, originOf }: Loaded): string {
  const document = new Document(plain)
  visit(document, {
    Pair(_key, { key, value }, ancestors) {
      if (!isLeaf(value)) return
      if (isSeq(value)) value.flow = true
      value.comment = `${MARK}${originOf(pathOf([...ancestors, { key }]))}`
    },
  })
  return align(document.toString({ lineWidth: 0, flowCollectionPadding: false }).trimEnd().split('\n')).join('\n')
}

/** A value that has one origin: a scalar, or a list of scalars. */
function isLeaf(value: unknown): value is Scalar | YAMLSeq {
  return isScalar(value) || (isSeq(value) && !value.items.some((item) => isCollection(item)))
}

function pathOf(nodes: readonly unknown[]): string {
  return nodes.reduce<string>((path, node, index) => {
    if (isSeq(node)) return `${path}[${node.items.indexOf(nodes[index + 1])}]`
    const { key } = node as { key?: unknown }
    if (!isScalar(key)) return path
    return path === '' ? String(key.value) : `${path}.${String(key.value)}`
  }, '')
}

function align(lines: readonly string[]): string[] {
  const parts = lines.map((line) => line.split(` #${MARK}`))
  const column = Math.min(COLUMN_MAX, Math.max(...parts.map(([text = '']) => text.length)))
  return parts.map(([text = '', origin]) => (origin === undefined ? text : `${text.padEnd(column)}  # ${origin}`))
}
