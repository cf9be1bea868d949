import { getSystemErrorMessage } from 'node:util'
import { closest } from '@sonde/sdk/config'
import { codeFault, messageOf, readGivenFile } from '@sonde/sdk/internal'
import { type Document, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import { ConfigError } from './config-error.ts'
import { ROOM_KEYS } from './rooms.ts'
import { depthFault, referenceFaults, syntaxFaults, type YamlFault } from './yaml-faults.ts'

const FILE_BYTES_LIMIT = 1 << 20

/** A configuration file: its content, and the line of each key path. */
export interface ConfigFile {
  readonly path: string
  readonly content: Readonly<Record<string, unknown>>
  /** Line of the value at a key path, or of the nearest key above it. */
  lineOf(path: readonly (string | number)[]): number
}

/**
 * Reads and parses a YAML file.
 *
 * @throws ConfigError if the file cannot be read or is no YAML; each line names the file and the line in it.
 */
export function readConfigFile(path: string): ConfigFile {
  const fault = codeFault(path)
  if (fault !== '') throw new ConfigError([`--config ${path} is not read: ${fault}`])
  const text = readYamlText(path)
  const lines = new LineCounter()
  const refuse = (faults: readonly YamlFault[]) => {
    if (faults.length === 0) return
    throw new ConfigError(faults.map(({ offset, words }) => `${path}:${lineAt(text, offset)}: ${words}`))
  }
  const deep = depthFault(text)
  if (deep !== undefined) refuse([deep])
  // Duplicate keys are reported below, where their path is known.
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false })
  refuse(syntaxFaults(text, document))
  refuseForeign(document, path)
  refuse(referenceFaults(document))
  refuse(unwrapListener(document))
  return { path, content: contentOf(document, path), lineOf: (keys) => lineOf(document, lines, keys) }
}

/** YAML without any key of a configuration is another kind of file, so none of it is printed. */
function refuseForeign({ contents }: Document, path: string): void {
  if (!isMap(contents) || contents.items.length === 0) return
  const isMeant = ({ key }: { readonly key: unknown }) => {
    const name = isScalar(key) ? String(key.value) : ''
    return ROOM_KEYS.includes(name) || closest(name, ROOM_KEYS) !== undefined
  }
  if (contents.items.some(isMeant)) return
  throw new ConfigError([`${path}:1: the file has no key of a configuration; allowed: ${ROOM_KEYS.join(', ')}`])
}

/**
 * A sink is one block or a list of blocks. There is only one listener, so its list has one element, which replaces the
 * list.
 */
function unwrapListener(document: Document): YamlFault[] {
  const path = ['export', 'prometheus']
  const list = document.hasIn(path) ? document.getIn(path) : undefined
  if (!isSeq(list)) return []
  if (list.items.length === 1) {
    document.setIn(path, list.items[0])
    return []
  }
  const words = `export.prometheus is a list of ${list.items.length}; allowed: a block, or a list of one, as there is one listener`
  return [{ offset: list.range?.[0] ?? 0, words }]
}

function contentOf(document: Document, path: string): Record<string, unknown> {
  let content: unknown
  try {
    content = document.toJS()
  } catch (cause) {
    throw new ConfigError([`${path}: the file cannot be read as values: ${valuesFault(cause)}`])
  }
  if (content === null) return {}
  if (!isMap(document.contents))
    throw new ConfigError([
      `${path}:1: the file holds ${Array.isArray(content) ? 'a list' : `a ${typeof content}`}; allowed: a block of keys`,
    ])
  return content as Record<string, unknown>
}

function valuesFault(cause: unknown): string {
  const message = messageOf(cause)
  return message.startsWith('Excessive alias')
    ? 'its aliases unfold to too many values; allowed: values written out'
    : message
}

/** Why a call of the system failed, in its words alone: the caller's sentence already names the path. */
export function systemReason(cause: unknown): string {
  const { errno } = cause as { errno?: number }
  return errno === undefined ? messageOf(cause) : getSystemErrorMessage(errno)
}

/** Text of a file or pipe that a user named, up to the limit. @throws ConfigError if it cannot be read. */
export function readYamlText(path: string): string {
  let bytes: Uint8Array | undefined
  try {
    bytes = readGivenFile(path, FILE_BYTES_LIMIT)
  } catch (cause) {
    throw new ConfigError([`${path}: the file cannot be read: ${systemReason(cause)}`])
  }
  if (bytes === undefined) throw new ConfigError([`${path}: the file is larger than ${FILE_BYTES_LIMIT} bytes`])
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ConfigError([`${path}: the file is not UTF-8 text`])
  }
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

function lineOf(document: Document, lines: LineCounter, keys: readonly (string | number)[]): number {
  for (let length = keys.length; length > 0; length--) {
    const node = document.getIn(keys.slice(0, length), true) as { range?: [number, number, number] } | undefined
    if (node?.range !== undefined && node.range !== null) return lines.linePos(node.range[0]).line
  }
  return 1
}
