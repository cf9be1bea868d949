import { isPair, isScalar, isSeq } from 'yaml'

/** Key path of a node of a YAML document: `data_sources[0].name`. */
export function yamlPath(nodes: readonly unknown[]): string {
  return nodes.reduce<string>((path, node, index) => {
    if (isSeq(node)) {
      const at = node.items.indexOf(nodes[index + 1])
      return at < 0 ? path : `${path}[${at}]`
    }
    if (!isPair(node)) return path
    const key = isScalar(node.key) ? String(node.key.value) : String(node.key)
    return path === '' ? key : `${path}.${key}`
  }, '')
}
