import type { LenientNode } from './lenient-json.ts'

const SHORT: Readonly<Record<string, string>> = {
  '\b': '\\b',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\f': '\\f',
  '"': '\\"',
  '\\': '\\\\',
  '/': '\\/',
}

/**
 * A value as `json_object_get_string` returns it. The reference application reads every field with this function: texts
 * unchanged, everything else as JSON with blanks. Undefined for null, because the function returns no text then.
 */
export function printedString(node: LenientNode): string | undefined {
  if (node.kind === 'null') return undefined
  return node.kind === 'text' ? node.value : printedNode(node)
}

/** A value as json-c prints it. */
function printedNode(node: LenientNode): string {
  switch (node.kind) {
    case 'null':
      return 'null'
    case 'text':
      return quoted(node.value)
    case 'number':
    case 'bool':
      return node.printed
    case 'array':
      return node.items.length === 0 ? '[ ]' : `[ ${node.items.map(printedNode).join(', ')} ]`
    case 'object': {
      const members = [...node.members].map(([key, value]) => `${quoted(key)}: ${printedNode(value)}`)
      return members.length === 0 ? '{ }' : `{ ${members.join(', ')} }`
    }
  }
}

function quoted(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what json-c escapes
  const escaped = text.replace(/[\u0000-\u001f"\\/]/g, (character) => {
    return SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
  return `"${escaped}"`
}
