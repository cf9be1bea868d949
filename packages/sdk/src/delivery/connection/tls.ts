import { X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import * as v from 'valibot'
import { boundedText, flag, pattern, setting } from '../../config/kit.ts'
import { messageOf, SondeError, warnOfFault } from '../../errors.ts'
import { readTextFileNow } from '../../internal/text-file.ts'
import { OptionFault } from './option-fault.ts'

/** A bundle of all public CAs is about 220 KiB. */
const FILE_BYTES_MAX = 4 << 20

/** How the certificate of a far end is checked, and which certificate it is shown. */
export interface TlsOptions {
  /** File with the certificates (PEM) of the CAs that are trusted. Default: the CAs of Node. */
  readonly caFile?: string | undefined
  /** File with the certificate (PEM) that is shown to the far end. Default: none. */
  readonly certFile?: string | undefined
  /** File with the key (PEM) of {@link certFile}, without a passphrase. */
  readonly keyFile?: string | undefined
  /** Name that the certificate of the far end must have. Default: the host of the address. */
  readonly serverName?: string | undefined
  /** Whether the certificate of the far end is checked. Default: true. */
  readonly verify?: boolean | undefined
}

function file(words: string) {
  return v.optional(v.pipe(boundedText(1, 4096), v.description(words)))
}

/** Those options as schema entries. */
export const tlsEntries = {
  caFile: file('File with the certificates (PEM) of the CAs that are trusted. Default: the public CAs'),
  certFile: file('File with the certificate (PEM) that is shown to the far end'),
  keyFile: file('File with the key (PEM) of that certificate, without a passphrase'),
  serverName: v.optional(
    v.pipe(
      pattern(/^[A-Za-z0-9_](?:[A-Za-z0-9_.:-]{0,252})$/, 'a host name or an address'),
      v.description('Name that the certificate of the far end must have. Default: the host of the address'),
    ),
  ),
  verify: setting(
    flag(),
    true,
    'Whether the certificate of the far end is checked; without that, anybody on the way can read and change records',
  ),
}

/** The options of a TLS connection, as `tls.connect` takes them. */
export interface TlsContext {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  /** The name that the certificate must have. */
  readonly servername?: string
  readonly rejectUnauthorized: boolean
}

/**
 * Reads the files, as they are now. Call it for each new connection: certificates are renewed in place.
 *
 * @throws OptionFault if a file cannot be read, holds no certificate or key, or one of a pair is missing.
 */
export function readTls(options: TlsOptions): TlsContext {
  const { caFile, certFile, keyFile, serverName, verify = true } = options
  if (certFile !== undefined && keyFile === undefined)
    throw new OptionFault('tls.keyFile', 'is missing', 'the key of tls.certFile')
  if (keyFile !== undefined && certFile === undefined)
    throw new OptionFault('tls.certFile', 'is missing', 'the certificate of tls.keyFile')
  const ca = pemFileText('caFile', caFile)
  const cert = pemFileText('certFile', certFile)
  const key = pemFileText('keyFile', keyFile)
  if (ca !== undefined) checkPem('caFile', caFile, 'certificates in PEM form', () => new X509Certificate(ca))
  if (cert !== undefined) checkPem('certFile', certFile, 'a certificate in PEM form', () => new X509Certificate(cert))
  if (key !== undefined)
    checkPem('keyFile', keyFile, 'the key of tls.certFile in PEM form, without a passphrase', () =>
      createSecureContext({ cert, key }),
    )
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    rejectUnauthorized: verify,
  }
}

/** Warns if certificates of a destination are not checked. */
export function warnIfUnverified(destination: string, { verify = true }: TlsOptions): void {
  if (verify) return
  const message = `${destination} does not check the certificate of its far end: anybody on the way can read and change its records; tls.caFile names a CA of your own`
  warnOfFault(new SondeError('DLV_UNVERIFIED', message))
}

function pemFileText(option: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  const fault = (_: 'read' | 'limit', why: string, cause?: unknown) =>
    new OptionFault(`tls.${option}`, `is ${JSON.stringify(path)}, which ${why}`, 'a readable file (PEM)', cause)
  return readTextFileNow({ path, limitBytes: FILE_BYTES_MAX, fault })
}

function checkPem(option: string, path: string | undefined, allowed: string, read: () => unknown): void {
  try {
    read()
  } catch (error) {
    // OpenSSL quotes nothing of a file.
    const fault = `is ${JSON.stringify(path)}, which cannot be used: ${messageOf(error)}`
    throw new OptionFault(`tls.${option}`, fault, allowed, error)
  }
}
