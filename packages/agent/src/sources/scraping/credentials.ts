import { SondeError } from '@sonde/sdk'
import { readTextFile } from '@sonde/sdk/internal'
import type { ScrapingOptions } from './options.ts'

const FILE_BYTES_MAX = 64 << 10

/** Credentials for an exporter. They never appear in messages, logs or answers. */
export interface Credentials {
  /** Value of the header `authorization`; undefined if the header is not sent. */
  readonly authorization?: string
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/**
 * Checks that the options for credentials are compatible.
 *
 * @throws SondeError `SRC_CREDENTIALS` with the allowed combinations.
 */
export function refuseCredentials(options: ScrapingOptions): void {
  const { username, password_file, bearer_token_file, cert_file, key_file } = options
  const fault = (why: string) => new SondeError('SRC_CREDENTIALS', why)
  if ((username === undefined) !== (password_file === undefined))
    throw fault('username and password_file go together; give both, or none')
  if ((cert_file === undefined) !== (key_file === undefined))
    throw fault('cert_file and key_file go together; give both, or none')
  if (username !== undefined && bearer_token_file !== undefined)
    throw fault('username and bearer_token_file are given; allowed: one of them')
  if (username?.includes(':')) throw fault('username has a colon, which basic authentication does not allow')
}

/**
 * Reads the credentials from their files, as they are now.
 *
 * @throws SondeError `SRC_CREDENTIALS` if a file cannot be read, or its content cannot be sent.
 */
export async function readCredentials(options: ScrapingOptions): Promise<Credentials> {
  const [password, token, ca, cert, key] = await Promise.all([
    secretIn('password_file', options.password_file),
    secretIn('bearer_token_file', options.bearer_token_file),
    textIn('ca_file', options.ca_file),
    textIn('cert_file', options.cert_file),
    textIn('key_file', options.key_file),
  ])
  const basic = password && `Basic ${Buffer.from(`${options.username}:${password}`).toString('base64')}`
  const authorization = basic ?? (token && `Bearer ${token}`)
  return {
    ...(authorization === undefined ? {} : { authorization }),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  }
}

async function textIn(option: string, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined
  const fault = (_: string, why: string, cause?: unknown) =>
    new SondeError('SRC_CREDENTIALS', `${option} ${path} ${why}`, { cause })
  return readTextFile({ path, limitBytes: FILE_BYTES_MAX, fault })
}

/** Reads a secret from a file with one line; a newline at the end is not part of the secret. */
async function secretIn(option: string, path: string | undefined): Promise<string | undefined> {
  const text = (await textIn(option, path))?.replace(/\r?\n$/, '')
  if (text === undefined) return undefined
  if (text !== '' && /^[\x20-\x7e\u00a0-\uffff]*$/u.test(text)) return text
  throw new SondeError('SRC_CREDENTIALS', `${option} ${path} is empty or has several lines; allowed: one line`)
}
