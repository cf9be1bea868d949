import { SondeError } from '@sonde/sdk'
import { FollowedFile, readTextFile } from '@sonde/sdk/internal'
import { type Certificates, FollowedCertificates } from '../access/followed-certificates.ts'
import type { AgentsConfig } from './config.ts'

const TOKEN_BYTES_MAX = 4096

/** How a console proves to agents who it is: by a token, a certificate, or both. */
export class AgentLogin {
  readonly #token: FollowedFile<string> | undefined
  readonly #certificates: FollowedCertificates | undefined

  /** @param onFault Told once of each version of a file that cannot be used. */
  constructor(config: AgentsConfig, onFault: (fault: SondeError) => void) {
    const { token_file: path, cert_file: cert, key_file: key, ca_file: ca } = config
    if (path !== undefined) this.#token = tokenIn(path, onFault)
    if (cert !== undefined || ca !== undefined)
      this.#certificates = new FollowedCertificates({ cert, key, ca }, onFault)
  }

  /** Takes what has changed on disk. The last good token and certificates stay. */
  async look(): Promise<void> {
    await Promise.all([this.#token?.look(), this.#certificates?.look()])
  }

  /** The headers of a request. */
  get headers(): Readonly<Record<string, string>> {
    const token = this.#token?.value
    return token === undefined ? {} : { authorization: `Bearer ${token}` }
  }

  /** The same object as long as the files say the same. */
  get certificates(): Certificates | undefined {
    return this.#certificates?.value
  }

  /** What is wrong with the files, as sentences. */
  get faults(): readonly string[] {
    return [this.#token?.fault?.message ?? '', this.#certificates?.fault ?? ''].filter((fault) => fault !== '')
  }
}

function tokenIn(path: string, onFault: (fault: SondeError) => void): FollowedFile<string> {
  const fault = (why: string, cause?: unknown) => new SondeError('NOD_TOKEN', `${path} ${why}`, { cause })
  return new FollowedFile({
    ...{ path, onFault, isNeeded: true },
    read: () => readTextFile({ path, limitBytes: TOKEN_BYTES_MAX, fault: (_, why, cause) => fault(why, cause) }),
    parse: (text) => {
      const token = text.trim()
      if (!/^[\x21-\x7e]+$/.test(token)) throw fault('has no token; allowed: one line with a token')
      return token
    },
  })
}
