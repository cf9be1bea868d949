import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectSecure } from 'node:tls'
import { messageOf } from '../../errors.ts'
import { isCertificateFault } from '../../internal/certificate-fault.ts'
import { type SocketAddress, socketAddressText } from './socket-address.ts'
import { readTls, type TlsOptions } from './tls.ts'

/**
 * Opens a TCP connection and, with `tls`, encrypts it; the certificate files are read anew. The socket is ready for
 * bytes. It is destroyed if the signal aborts before that; afterwards the signal has no effect.
 *
 * @throws Error that names the address and the cause, in words.
 */
export async function openSocket(
  address: SocketAddress,
  tls: TlsOptions | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = await ready(connectPlain({ ...address, noDelay: true }), 'connect', address, signal)
  return tls === undefined ? socket : encrypt(socket, address, tls, signal)
}

/** Encrypts an open connection, which may lead through a proxy. `address` is the far end. */
export function encrypt(
  socket: Socket,
  { host, port }: SocketAddress,
  tls: TlsOptions,
  signal: AbortSignal,
): Promise<Socket> {
  try {
    // A server name is never an address (RFC 6066); Node checks the certificate against the host all the same.
    const name = isIP(host) === 0 ? { servername: host } : {}
    const secure = connectSecure({ socket, host, ...name, ...readTls(tls) })
    return ready(secure, 'secureConnect', { host, port }, signal)
  } catch (error) {
    socket.destroy()
    return Promise.reject(error)
  }
}

function ready<S extends Socket>(socket: S, event: string, address: SocketAddress, signal: AbortSignal): Promise<S> {
  return new Promise<S>((resolve, reject) => {
    const forget = () => {
      signal.removeEventListener('abort', stop)
      socket.off(event, succeed).off('error', fail).off('close', close)
    }
    const succeed = () => {
      forget()
      resolve(socket)
    }
    const abandon = (error: unknown) => {
      forget()
      // A late error must not end the process.
      socket.on('error', () => undefined).destroy()
      reject(error)
    }
    const fail = (error: Error) =>
      abandon(new Error(`${socketAddressText(address)} ${wordsOf(error)}`, { cause: error }))
    const close = () => abandon(new Error(`${socketAddressText(address)} closed the connection`))
    const stop = () => abandon(signal.reason)
    socket.once(event, succeed).once('error', fail).once('close', close)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
}

/** The cause of a failed connection, as the predicate of a sentence. */
function wordsOf(error: Error): string {
  const { code = '' } = error as NodeJS.ErrnoException
  // With several addresses of one name, Node reports an error without a message.
  const said = messageOf(error) || code
  if (/^(ENOTFOUND|EAI_AGAIN)$/.test(code)) return `has no address: ${said}`
  if (isCertificateFault(error)) return `has a certificate that is not trusted: ${said}`
  return `cannot be reached: ${said}`
}
