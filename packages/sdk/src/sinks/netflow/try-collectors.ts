import type { ConnectionFinding } from '../../delivery/connection/check-http.ts'
import { messageOf } from '../../errors.ts'
import type { CollectorSocket } from './endpoint.ts'

/** How long looking up names, and refusals, may take. Unit: milliseconds. */
const LIMIT_MS = 5000

/**
 * Looks up each collector and sends it an empty datagram. A refusal says that nobody listens there. Without a refusal
 * nothing is known: UDP has no answers. Never rejects.
 */
export async function tryCollectors(sockets: readonly CollectorSocket[]): Promise<ConnectionFinding> {
  const signal = AbortSignal.timeout(LIMIT_MS)
  const faults: string[] = []
  for (const socket of sockets) {
    try {
      await socket.open()
      await socket.probe(new Uint8Array(0), signal)
    } catch (error) {
      faults.push(messageOf(error))
    } finally {
      socket.close()
    }
  }
  if (faults.length > 0) return { state: 'denied', found: faults.join('; ') }
  const shown = sockets.map((socket) => socket.shown).join(' and ')
  return { state: 'configured', found: `sends to ${shown}: not refused, which is all that UDP can tell` }
}
