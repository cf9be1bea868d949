import { randomBytes, X509Certificate } from 'node:crypto'
import type { Server } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { FollowedCertificates } from '@sonde/console'
import { SondeError } from '@sonde/sdk'
import type { NodeAnswer } from '@sonde/sdk/api'
import type { Logger } from 'pino'
import { ConfigError } from '../config/config-error.ts'
import type { Loaded } from '../config/load.ts'

/** How often the files are looked at. Unit: milliseconds. */
const LOOK_MS = 5000
/** Length of the keys of session tickets. Unit: bytes. */
const TICKET_KEY_BYTES = 48

type Log = Pick<Logger, 'info' | 'warn'>

/** The certificate of a server: read again while the server runs. */
export interface ServerTls {
  /** Those of the start. */
  readonly certificates: { readonly cert?: string; readonly key?: string; readonly ca?: string }
  status(): NonNullable<NodeAnswer['certificate']>
  /** Gives a server newer certificates as they come, until it closes. */
  follow(server: Server): void
}

/**
 * The certificate that the configuration names; undefined without one.
 *
 * @throws ConfigError if keys do not fit together, SondeError `TLS_READ` or `TLS_CERTIFICATES` if files do not.
 */
export async function openServerTls({ config }: Pick<Loaded, 'config'>, log: Log): Promise<ServerTls | undefined> {
  const { cert_file: cert, key_file: key, client_ca_file: ca } = config.access.tls
  if (cert === undefined && key === undefined && ca === undefined) return undefined
  if (cert === undefined || key === undefined)
    throw new ConfigError([
      `access.tls needs both cert_file and key_file; ${cert === undefined ? 'cert' : 'key'}_file is missing`,
    ])
  let atStart: SondeError | undefined
  let isStarted = false
  const files = new FollowedCertificates({ cert, key, ca }, (fault) => {
    if (isStarted) log.warn({ error: fault }, 'the certificate before stays in use')
    else atStart = fault
  })
  await files.look()
  const { value: certificates } = files
  if (certificates === undefined) throw atStart ?? new SondeError('TLS_READ', `${cert} cannot be used`)
  isStarted = true
  return {
    certificates,
    status: () => ({ endsMs: endOf(files.value?.cert ?? ''), fault: files.fault }),
    follow(server) {
      const timer = setInterval(() => void renew(server, files, log), LOOK_MS)
      server.once('close', () => clearInterval(timer))
    },
  }
}

async function renew(server: Server, files: FollowedCertificates, log: Log): Promise<void> {
  const isNew = await files.look()
  if (!isNew || files.value === undefined || !(server instanceof TlsServer)) return
  server.setSecureContext(files.value)
  // A session of before would keep what was decided about its certificate.
  server.setTicketKeys(randomBytes(TICKET_KEY_BYTES))
  log.info({ ends: new Date(endOf(files.value.cert ?? '')).toISOString() }, 'a new certificate is in use')
}

function endOf(cert: string): number {
  return new X509Certificate(cert).validToDate.getTime()
}
