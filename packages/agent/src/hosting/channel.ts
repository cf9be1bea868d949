import type { Readable } from 'node:stream'
import { SondeError } from '@sonde/sdk'

/** Descriptor of the pipe in the child. */
export const CHILD_PIPE = 3

/** A message between an agent and its child: JSON, and optional bytes. */
export interface Framed {
  readonly said: unknown
  readonly bytes: Uint8Array | undefined
}

/** The length of the JSON, then that of the bytes; both u32, little-endian. */
const HEAD_BYTES = 8

/** Encodes a message for the pipe. `message.bytes`, if set, follows the JSON. */
export function frameOf(message: object & { readonly bytes?: Uint8Array }): Buffer {
  const { bytes = new Uint8Array(0), ...said } = message
  const json = Buffer.from(JSON.stringify(said))
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32LE(json.length, 0)
  head.writeUInt32LE(bytes.length, 4)
  return Buffer.concat([head, json, bytes])
}

/**
 * Reads the messages of a pipe, which holds anything once a library of a vendor has written to the wrong descriptor:
 * Node's own channel between processes ends the process then. Reading stops with the first that is none, or is longer
 * than `limitBytes`.
 *
 * @param onFault Called once, with a SondeError `AGT_CHILD_MESSAGE`.
 */
export function readFrames(
  pipe: Readable,
  limitBytes: number,
  onFrame: (frame: Framed) => void,
  onFault: (error: SondeError) => void,
): void {
  let waiting: Buffer[] = []
  let waitingBytes = 0
  /** Bytes that make the next step possible: a head, or a whole message. */
  let neededBytes = HEAD_BYTES
  pipe.on('data', (chunk: Buffer) => {
    waiting.push(chunk)
    waitingBytes += chunk.length
    if (waitingBytes < neededBytes) return
    let rest = Buffer.concat(waiting, waitingBytes)
    try {
      for (;;) {
        neededBytes = lengthOf(rest, limitBytes)
        if (rest.length < neededBytes) break
        onFrame(parse(rest.subarray(0, neededBytes)))
        rest = rest.subarray(neededBytes)
      }
      waiting = [rest]
      waitingBytes = rest.length
    } catch (error) {
      pipe.removeAllListeners('data').destroy()
      waiting = []
      onFault(error instanceof SondeError ? error : fault('holds something else than messages', error))
    }
  })
}

/** The length of the message that begins here; that of a head where not even that is there. */
function lengthOf(bytes: Buffer, limitBytes: number): number {
  if (bytes.length < HEAD_BYTES) return HEAD_BYTES
  const length = HEAD_BYTES + bytes.readUInt32LE(0) + bytes.readUInt32LE(4)
  if (length > limitBytes) throw fault(`holds a message of ${length} bytes; allowed: ${limitBytes}`)
  return length
}

function parse(frame: Buffer): Framed {
  const end = HEAD_BYTES + frame.readUInt32LE(0)
  const said: unknown = JSON.parse(frame.toString('utf8', HEAD_BYTES, end))
  // A copy: what it lies in holds other messages too.
  return { said, bytes: end === frame.length ? undefined : new Uint8Array(frame.subarray(end)) }
}

/** The error for bytes of the pipe that are no message. */
export function fault(what: string, cause?: unknown): SondeError {
  return new SondeError('AGT_CHILD_MESSAGE', `the pipe of the child ${what}; it is replaced`, { cause })
}
