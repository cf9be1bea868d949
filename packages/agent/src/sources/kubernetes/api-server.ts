import { type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { SondeError } from '@sonde/sdk'
import { isCertificateFault, messageOf, readTextFile } from '@sonde/sdk/internal'

const FILE_BYTES_MAX = 1 << 20

/** Options of {@link ApiServer}. */
export interface ApiServerOptions {
  /** Address without a path, such as `https://10.96.0.1:443`. */
  readonly address: string
  /** File with the token; it is read for each request, because Kubernetes renews it. Empty: no token is sent. */
  readonly tokenFile: string
  /** File with the certificates that sign that of the server, read for each request. Empty: those of Node. */
  readonly caFile: string
  /** Time for a whole answer, or until the first byte of a watch. Unit: milliseconds. */
  readonly timeoutMs: number
  /** Largest answer. Unit: bytes. */
  readonly bytesMax: number
}

/** An answer to a list. `410`: the resource version, or the token to continue, is too old. */
export type ListAnswer = { readonly status: 200; readonly text: string } | { readonly status: 410 }

/** Sends requests to the API server. Tokens appear in no message. */
export class ApiServer {
  readonly #options: ApiServerOptions

  constructor(options: ApiServerOptions) {
    this.#options = options
  }

  get address(): string {
    return this.#options.address
  }

  /**
   * Requests a list.
   *
   * @throws SondeError `SRC_API_SERVER` if there is no whole answer of status 200 or 410.
   */
  async list(path: string, signal: AbortSignal): Promise<ListAnswer> {
    const text = await this.#text(path, signal, 410)
    return text === undefined ? { status: 410 } : { status: 200, text }
  }

  /**
   * Requests one object; undefined if the server has no such object.
   *
   * @throws SondeError `SRC_API_SERVER` if there is no whole answer of status 200 or 404.
   */
  object(path: string, signal: AbortSignal): Promise<string | undefined> {
    return this.#text(path, signal, 404)
  }

  /** The text of an answer; undefined if its status is `none`. */
  async #text(path: string, signal: AbortSignal, none: number): Promise<string | undefined> {
    const { timeoutMs, bytesMax } = this.#options
    const ended = new AbortController()
    const late = AbortSignal.timeout(timeoutMs)
    try {
      const response = await this.#send(path, AbortSignal.any([signal, late, ended.signal]))
      if (response.statusCode === none) return undefined
      this.#check(response, path)
      const parts: Buffer[] = []
      let bytes = 0
      for await (const part of response as AsyncIterable<Buffer>) {
        bytes += part.length
        if (bytes > bytesMax) throw this.#fault(`answers with more than ${bytesMax} bytes; api_max_bytes allows more`)
        parts.push(part)
      }
      return Buffer.concat(parts).toString()
    } catch (error) {
      if (error instanceof SondeError) throw error
      if (late.aborted) throw this.#fault(`gave no whole answer within ${timeoutMs} ms`, error)
      throw this.#silence(error)
    } finally {
      ended.abort()
    }
  }

  /**
   * Opens a watch; undefined if the resource version is too old.
   *
   * @throws SondeError `SRC_API_SERVER` if the watch does not start.
   */
  async watch(path: string, signal: AbortSignal): Promise<IncomingMessage | undefined> {
    const { timeoutMs } = this.#options
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), timeoutMs)
    try {
      const response = await this.#send(path, AbortSignal.any([signal, late.signal]))
      if (response.statusCode === 410) {
        response.destroy()
        return undefined
      }
      this.#check(response, path)
      return response
    } catch (error) {
      if (error instanceof SondeError) throw error
      if (late.signal.aborted) throw this.#fault(`starts no watch within ${timeoutMs} ms`, error)
      throw this.#silence(error)
    } finally {
      clearTimeout(timer)
    }
  }

  async #send(path: string, signal: AbortSignal): Promise<IncomingMessage> {
    const { address, tokenFile, caFile } = this.#options
    const [token, ca] = await Promise.all([this.#read('api_token_file', tokenFile), this.#read('api_ca_file', caFile)])
    const headers = {
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...(token === undefined ? {} : { authorization: `Bearer ${token.trim()}` }),
    }
    const request = address.startsWith('https:') ? requestSecure : requestPlain
    return new Promise((resolve, reject) => {
      request(`${address}${path}`, { headers, signal, agent: false, ...(ca === undefined ? {} : { ca }) }, resolve)
        .on('error', reject)
        .end()
    })
  }

  #read(option: string, path: string): Promise<string | undefined> {
    if (path === '') return Promise.resolve(undefined)
    const fault = (_: string, why: string, cause?: unknown) =>
      new SondeError('SRC_CREDENTIALS', `${option} ${path} ${why}`, { cause })
    return readTextFile({ path, limitBytes: FILE_BYTES_MAX, fault })
  }

  #check(response: IncomingMessage, path: string): void {
    const { statusCode = 0 } = response
    if (statusCode === 200) return
    response.destroy()
    if (statusCode === 401) throw this.#fault('refuses the token (401); look at api_token_file, and at automounting')
    if (statusCode === 403)
      throw this.#fault(`forbids it (403); the service account needs a role with ${rightOf(path)}`)
    throw this.#fault(`answers ${statusCode}`)
  }

  #silence(error: unknown): SondeError {
    const { caFile } = this.#options
    if (!isCertificateFault(error)) return this.#fault(`does not answer: ${messageOf(error)}`, error)
    const signers = caFile === '' ? 'the certificates of Node; api_ca_file names others' : `api_ca_file ${caFile}`
    return this.#fault(`has a certificate that is not trusted by ${signers}: ${messageOf(error)}`, error)
  }

  #fault(why: string, cause?: unknown): SondeError {
    return new SondeError('SRC_API_SERVER', `the API server ${this.#options.address} ${why}`, { cause })
  }
}

/** What the role of the service account must allow, by the resource in the path of a request. */
const RIGHTS: Readonly<Record<string, string>> = {
  pods: 'get, list and watch of pods',
  nodes: 'get of nodes',
  resourceslices: 'get and list of resourceslices',
  daemonsets: 'list of daemonsets',
  scaledobjects: 'list of scaledobjects',
}

function rightOf(path: string): string {
  const resource = Object.keys(RIGHTS).find((name) => new RegExp(`/${name}([/?]|$)`).test(path))
  return RIGHTS[resource ?? 'pods'] ?? ''
}
