import { SondeError, shown } from '../errors.ts'

const NAME_BYTES_LIMIT = 200

/** Characters that end a line, a path or a text in some format. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this finds control characters
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\u2028\u2029/\\]|\.\./

/**
 * Checks a name that becomes a part of file names and labels: the name of a schema, the id or the tag of a source.
 *
 * @throws SondeError `TEL_NAME` unless the name is 1 to 200 bytes of UTF-8 without `/`, `\`, `..` and control
 * characters.
 */
export function checkName(what: string, name: unknown, { mayBeEmpty = false } = {}): asserts name is string {
  const isText = typeof name === 'string' && name.isWellFormed() && (mayBeEmpty || name.length > 0)
  if (isText && !FORBIDDEN.test(name) && Buffer.byteLength(name) <= NAME_BYTES_LIMIT) return
  const given = isText && Buffer.byteLength(name) > NAME_BYTES_LIMIT ? `${Buffer.byteLength(name)} bytes` : shown(name)
  const least = mayBeEmpty ? 'up to' : '1 to'
  throw new SondeError(
    'TEL_NAME',
    `${what} is ${given}; allowed: ${least} ${NAME_BYTES_LIMIT} bytes of text without /, \\, .. and control characters`,
  )
}
