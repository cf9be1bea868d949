import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { SondeError } from '@sonde/sdk'
import type { UserRole } from '@sonde/sdk/api'
import { sondeCommand } from '@sonde/sdk/internal'
import * as v from 'valibot'
import { StateFile } from '../state-file/state-file.ts'
import { ROLES } from './role.ts'

const TOKEN_BYTES = 32
const TOKEN_FORM = /^sonde_[\w-]{43}$/
const NAME_FORM = /^[\w.@-]{1,64}$/
/** Policy: a further token is refused. */
const TOKEN_COUNT_MAX = 1000
const FILE_BYTES_MAX = 1 << 20

const tokenSchema = v.strictObject({
  name: v.pipe(v.string(), v.regex(NAME_FORM)),
  role: v.picklist(ROLES),
  /** SHA-256 of the token, which has 256 random bits: a slow hash would protect no better. */
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  addedMs: v.number(),
  addedBy: v.string(),
  /** Null: never. */
  expiresMs: v.nullable(v.number()),
})
const fileSchema = v.strictObject({ tokens: v.array(tokenSchema) })

/** A token as it is kept, without the token itself. */
export type KnownToken = v.InferOutput<typeof tokenSchema>
type TokenFile = v.InferOutput<typeof fileSchema>

/** A token to add. */
export interface NewToken {
  readonly name: string
  readonly role: UserRole
  readonly addedBy: string
  /** Null: it never expires. Unit: milliseconds since the Unix epoch. */
  readonly expiresMs: number | null
  /** A token of another server. Default: a new one. */
  readonly token?: string | undefined
}

/** The tokens of a server. They are kept as hashes, in a file that the command changes while servers run. */
export class Tokens {
  readonly #file: StateFile<TokenFile>

  /** @param folder The folder of access. */
  constructor(folder: string, onFault: (fault: SondeError) => void) {
    this.#file = new StateFile({
      path: join(folder, 'tokens.json'),
      empty: { tokens: [] },
      parse: (value) => v.parse(fileSchema, value),
      limitBytes: FILE_BYTES_MAX,
      onFault,
    })
  }

  /** All tokens, also those that have expired. */
  async list(): Promise<readonly KnownToken[]> {
    return (await this.#file.value()).tokens
  }

  /** The token that a text is; undefined if there is none, or it has expired. */
  async find(text: string, nowMs = Date.now()): Promise<KnownToken | undefined> {
    if (!TOKEN_FORM.test(text)) return undefined
    return this.findHash(hashOf(text), nowMs)
  }

  /** The token with a hash; undefined if there is none any more, or it has expired. */
  async findHash(sha256: string, nowMs = Date.now()): Promise<KnownToken | undefined> {
    const found = (await this.list()).find((token) => token.sha256 === sha256)
    return found === undefined || isExpired(found, nowMs) ? undefined : found
  }

  /**
   * Adds a token. Nobody can read it again.
   *
   * @throws SondeError `ACC_FROM` if the given token has not the form of one, `ACC_NAME` if the name is not allowed or
   * taken, `ACC_LIMIT` if there are too many; `STA_…`.
   */
  async add({ name, role, addedBy, expiresMs, token: given }: NewToken): Promise<string> {
    if (!NAME_FORM.test(name))
      throw new SondeError(
        'ACC_NAME',
        `the name of a token is 1 to 64 letters, digits, _ . @ -; got ${JSON.stringify(name.slice(0, 80))}`,
      )
    if (given !== undefined && !TOKEN_FORM.test(given))
      throw new SondeError(
        'ACC_FROM',
        `the file of --from holds no token; allowed: one line that ${sondeCommand()} tokens add printed`,
      )
    const token = given ?? `sonde_${randomBytes(TOKEN_BYTES).toString('base64url')}`
    await this.#file.update(({ tokens }) => {
      if (tokens.some((known) => known.name === name))
        throw new SondeError('ACC_NAME', `a token ${name} exists; remove it first, or choose another name`)
      if (tokens.length >= TOKEN_COUNT_MAX)
        throw new SondeError('ACC_LIMIT', `there are ${TOKEN_COUNT_MAX} tokens; remove one first`)
      return { tokens: [...tokens, { name, role, sha256: hashOf(token), addedMs: Date.now(), addedBy, expiresMs }] }
    })
    return token
  }

  /**
   * Removes a token. Its sessions end with it.
   *
   * @throws SondeError `ACC_NAME` if there is none of that name; `STA_…`.
   */
  async remove(name: string): Promise<void> {
    await this.#file.update(({ tokens }) => {
      const left = tokens.filter((known) => known.name !== name)
      if (left.length === tokens.length)
        throw new SondeError(
          'ACC_NAME',
          `there is no token ${JSON.stringify(name.slice(0, 80))}; ${sondeCommand()} tokens list has all`,
        )
      return { tokens: left }
    })
  }
}

/** Whether a token counts no more. */
export function isExpired({ expiresMs }: Pick<KnownToken, 'expiresMs'>, nowMs = Date.now()): boolean {
  return expiresMs !== null && expiresMs <= nowMs
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
