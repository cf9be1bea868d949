import { connect } from 'node:net'
import { shownUrl } from '../../config/secret.ts'
import { messageOf } from '../../errors.ts'
import type { SinkFinding } from '../registry.ts'

/** How long it waits for an answer. Unit: milliseconds. */
const LIMIT_MS = 3000

/** Whether somebody listens at an address. Sends nothing. */
export async function lookAtAddress(address: string): Promise<SinkFinding> {
  const { protocol, hostname, port } = new URL(address)
  const shown = shownUrl(address)
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) })
  try {
    await new Promise((resolve, reject) => {
      socket.once('connect', resolve).once('error', reject)
      socket.setTimeout(LIMIT_MS, () => reject(new Error(`nobody answers within ${LIMIT_MS} ms`)))
    })
    return { state: 'present', found: `${shown} can be reached` }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { state: 'denied', found: `${shown} cannot be reached: ${messageOf(error) || code}` }
  } finally {
    socket.destroy()
  }
}
