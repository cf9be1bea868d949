import type { HttpOptions } from './config.ts'
import { OptionFault } from './option-fault.ts'
import { readSecret } from './secret-source.ts'

/** The headers of each request, and the secrets that no message may show. */
export interface HttpCredentials {
  readonly headers: Readonly<Record<string, string>>
  readonly secrets: readonly string[]
}

/**
 * Headers and credentials for an address, as files and variables have them now.
 *
 * @throws OptionFault if a file or variable cannot be read, or two options conflict.
 */
export function httpCredentials(url: URL, options: HttpOptions): HttpCredentials {
  const { username, headers = {} } = options
  const password = readSecret('password', options)
  const token = readSecret('token', options)
  if (username !== undefined && password === undefined)
    throw new OptionFault('password', 'is missing', 'the password of username')
  if (password !== undefined && username === undefined)
    throw new OptionFault('username', 'is missing', 'the name of password')
  if (password !== undefined && token !== undefined)
    throw new OptionFault('username', 'is given beside token', 'username with password, or token')
  const isGiven = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
  if (isGiven && (password ?? token) !== undefined)
    throw new OptionFault('headers', 'has authorization, and credentials are given', 'one of the two')
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw new OptionFault('token', 'has blanks or letters that no header can hold', 'a token of printable ASCII')
  const basic = password === undefined ? undefined : Buffer.from(`${username}:${password}`).toString('base64')
  const authorization = basic !== undefined ? `Basic ${basic}` : token !== undefined ? `Bearer ${token}` : undefined
  const secrets = [...Object.values(headers), url.search, basic, password, token]
  return {
    headers: { ...headers, ...(authorization === undefined ? {} : { authorization }) },
    secrets: secrets.flatMap((text) => (text === undefined || text === '' ? [] : text)),
  }
}
