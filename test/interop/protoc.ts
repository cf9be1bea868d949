// Decodes protobuf with Debian's `protoc`, from a schema that was written from a specification.
import { execFileSync } from 'node:child_process'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A message as text format shows it: the values of each field in order, texts and numbers as written. */
export interface TextMessage {
  readonly [field: string]: readonly (string | TextMessage)[]
}

/** Decodes a message. @throws Error if `protoc` cannot read it, or does not know a field. */
export function decodeWithProtoc(schema: URL, message: string, bytes: Uint8Array): TextMessage {
  const path = fileURLToPath(schema)
  const args = [`--proto_path=${dirname(path)}`, `--decode=${message}`, basename(path)]
  return parseText(execFileSync('protoc', args, { input: bytes, maxBuffer: 1 << 30 }).toString('latin1'))
}

/** Reads the text format as `protoc` prints it: one field a line. An unknown field has a number instead of its name. */
function parseText(text: string): TextMessage {
  const root: Record<string, (string | TextMessage)[]> = {}
  const open = [root]
  for (const line of text.split('\n')) {
    const [, name, opens, value] = /^\s*(\w+)(?: (\{)|: (.*))$/.exec(line) ?? []
    const message = open.at(-1)
    if (message === undefined) throw new Error('more messages end than begin')
    if (/^\s*\}$/.test(line)) open.pop()
    if (name === undefined) continue
    if (/^\d/.test(name)) throw new Error(`field ${name} is unknown`)
    message[name] ??= []
    const inner = {}
    message[name].push(opens === undefined ? readValue(value ?? '') : inner)
    if (opens !== undefined) open.push(inner)
  }
  return root
}

/** A number or word as it is; a text without quotes and escapes, as UTF-8. */
function readValue(text: string): string {
  if (!text.startsWith('"')) return text
  const plain = text.slice(1, -1).replace(/\\([0-7]{3}|.)/g, (_, escaped: string) => {
    if (escaped.length === 3) return String.fromCharCode(Number.parseInt(escaped, 8))
    return { n: '\n', r: '\r', t: '\t' }[escaped] ?? escaped
  })
  return Buffer.from(plain, 'latin1').toString()
}
