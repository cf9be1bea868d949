import { createHash } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { SondeError } from '@sonde/sdk'
import { messageOf, readTextFile } from '@sonde/sdk/internal'

const FILE_BYTES_MAX = 256 << 10

/** Certificates and key (PEM), as a connection takes them. */
export interface Certificates {
  readonly cert?: string
  readonly key?: string
  readonly ca?: string
}

/** Paths of {@link FollowedCertificates}; a file that is not given is not needed. */
export interface CertificatePaths {
  readonly cert?: string | undefined
  readonly key?: string | undefined
  readonly ca?: string | undefined
}

/**
 * Certificates in files, which count as they are now. Files that cannot be used together, such as a certificate whose
 * key has not been replaced yet, change nothing: the last good ones stay.
 */
export class FollowedCertificates {
  /** The last good ones; undefined if there were none. The same object as long as the files say the same. */
  value: Certificates | undefined
  /** Why the files cannot be used as they are; empty if they can. */
  fault = ''
  readonly #paths: CertificatePaths
  readonly #onFault: (fault: SondeError) => void
  #digest = ''

  /** @param onFault Told once of each version that cannot be used. */
  constructor(paths: CertificatePaths, onFault: (fault: SondeError) => void) {
    this.#paths = paths
    this.#onFault = onFault
  }

  /** Brings `value` and `fault` up to date. True if there are other certificates now. */
  async look(): Promise<boolean> {
    try {
      const { cert, key, ca } = this.#paths
      const read = await Promise.all([textIn(cert), textIn(key), textIn(ca)])
      const digest = createHash('sha256').update(JSON.stringify(read)).digest('hex')
      if (digest === this.#digest) return false
      this.#digest = digest
      const next = certificatesOf(read)
      this.#check(next)
      this.value = next
      this.fault = ''
      return true
    } catch (error) {
      if (!(error instanceof SondeError)) throw error
      if (error.code === 'TLS_READ') this.#digest = ''
      if (error.message !== this.fault) this.#onFault(error)
      this.fault = error.message
      return false
    }
  }

  #check(next: Certificates): void {
    try {
      createSecureContext(next)
    } catch (cause) {
      const paths = Object.values(this.#paths).filter((path) => path !== undefined)
      throw new SondeError('TLS_CERTIFICATES', `${paths.join(', ')} do not fit together: ${messageOf(cause)}`, {
        cause,
      })
    }
  }
}

function certificatesOf([cert, key, ca]: readonly (string | undefined)[]): Certificates {
  return {
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(ca === undefined ? {} : { ca }),
  }
}

async function textIn(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined
  const fault = (_: string, why: string, cause?: unknown) => new SondeError('TLS_READ', `${path} ${why}`, { cause })
  return readTextFile({ path, limitBytes: FILE_BYTES_MAX, fault })
}
