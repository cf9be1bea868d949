import { SondeError } from '../../errors.ts'
import { shapeOfJson } from '../json-shape.ts'
import {
  FRAME_KINDS,
  JSON_BYTES_MAX,
  JSON_DEPTH_MAX,
  JSON_NODES_MAX,
  SYMBOLS_BYTES_MAX,
  TYPES_BYTES_MAX,
} from './frame.ts'

/** How long the payload of a frame of a kind may be that is no page. Unit: bytes. */
export function messageBytesMax(kind: number): number {
  if (kind === FRAME_KINDS.symbols) return SYMBOLS_BYTES_MAX
  return kind === FRAME_KINDS.types ? TYPES_BYTES_MAX : JSON_BYTES_MAX
}

/**
 * JSON is parsed in one turn of the event loop. So both sides refuse JSON that would take long, before they parse it.
 *
 * @throws SondeError `IPC_FRAME` if the JSON nests too deeply or is too large.
 */
export function checkJson(kind: string, payload: Uint8Array): void {
  const { depth, nodes } = shapeOfJson(payload)
  if (depth > JSON_DEPTH_MAX) throw refused(kind, `nests ${depth} deep`, JSON_DEPTH_MAX)
  if (nodes > JSON_NODES_MAX) throw refused(kind, `holds ${nodes} lists, objects and members`, JSON_NODES_MAX)
}

function refused(kind: string, found: string, max: number): SondeError {
  return new SondeError('IPC_FRAME', `a message of kind ${kind} ${found}; at most ${max}`)
}
