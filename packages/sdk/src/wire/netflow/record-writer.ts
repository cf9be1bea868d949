import type { Slot } from '../../schema/layout.ts'

/** A field of a record, and how it is written. */
export interface WrittenField {
  readonly slot: Slot
  /** Its size in the packet. Not used for `text`. Unit: bytes. */
  readonly bytes: number
  /**
   * `swap`: an integer or float in network byte order. `copy`: bytes as they are. `text`: text with its length before
   * it. `since_boot`: milliseconds since the host booted, as an absolute time.
   */
  readonly way: 'swap' | 'copy' | 'text' | 'since_boot'
}

/** Memory with the views that generated code writes through. */
export interface PacketMemory {
  readonly bytes: Uint8Array
  readonly data: DataView
}

/** How a time since the boot of the host becomes absolute. */
export interface BootTime {
  /** When the host booted, or its 32-bit uptime began anew. Unit: milliseconds since the Unix epoch. */
  readonly bootMs: number
  /** A larger time is from before the uptime began anew. Unit: milliseconds. */
  readonly uptimeMsMax: number
}

/**
 * Writes `count` records from `from`, one behind the other, to `to`, and returns the end of the last. `ends` gets the
 * end of each record if it is given.
 */
export type RecordWriter = (
  from: PacketMemory,
  to: PacketMemory,
  count: number,
  times: BootTime,
  ends?: Uint32Array,
) => number

/** Longer fields are copied by a call, which is shorter than code for each word. Unit: bytes. */
const INLINE_BYTES_MAX = 128

/**
 * Generates the code that writes records of a template. Definitions also come from files and peers. Therefore the code
 * has only numbers and fixed words.
 */
export function makeWriter(fields: readonly WrittenField[], recordBytes: number): RecordWriter {
  const lines: string[] = []
  // Offset from `p`, the place behind the last text of variable length.
  let offset = 0
  for (const { slot, bytes, way } of fields) {
    const at = slot.offset
    if (way === 'text') {
      lines.push(`p=writeText(b,o+${at},${slot.bytes},w,p+${offset});`)
      offset = 0
      continue
    }
    if (way === 'since_boot') lines.push(sinceBootSource(at, offset))
    else if (way === 'swap') lines.push(swapSource(at, offset, bytes / slot.field.count, slot.field.count))
    else lines.push(copySource(at, offset, bytes))
    offset += bytes
  }
  const code = `"use strict";return function write(from,to,n,times,ends){
const b=from.bytes,d=from.data,w=to.bytes,v=to.data,boot=times.bootMs,max=times.uptimeMsMax;
let p=0,t=0;
for(let i=0,o=0;i<n;i++,o+=${recordBytes}){
${lines.join('\n')}
p+=${offset};
if(ends!==undefined)ends[i]=p;
}
return p;
}`
  return new Function('writeText', code)(writeText) as RecordWriter
}

function sinceBootSource(at: number, to: number): string {
  return `t=d.getUint32(o+${at},true);if(t>max)t-=4294967296;t+=boot;v.setUint32(p+${to},t/4294967296);v.setUint32(p+${to + 4},t);`
}

/** Numbers in the other byte order; of 64 bits as two halves. */
function swapSource(at: number, to: number, width: number, count: number): string {
  const one = (i: number) => {
    const [from, place] = [at + i * width, to + i * width]
    if (width === 1) return `w[p+${place}]=b[o+${from}];`
    if (width === 2) return `v.setUint16(p+${place},d.getUint16(o+${from},true));`
    const low = `v.setUint32(p+${place},d.getUint32(o+${from + width - 4},true));`
    return width === 4 ? low : `${low}v.setUint32(p+${place + 4},d.getUint32(o+${from},true));`
  }
  return Array.from({ length: count }, (_, i) => one(i)).join('')
}

function copySource(at: number, to: number, bytes: number): string {
  if (bytes > INLINE_BYTES_MAX) return `w.set(b.subarray(o+${at},o+${at + bytes}),p+${to});`
  const words = bytes >> 2
  const whole = Array.from({ length: words }, (_, i) => `v.setUint32(p+${to + i * 4},d.getUint32(o+${at + i * 4}));`)
  const rest = Array.from({ length: bytes & 3 }, (_, i) => {
    const place = words * 4 + i
    return `w[p+${to + place}]=b[o+${at + place}];`
  })
  return [...whole, ...rest].join('')
}

/** Writes the used bytes of a text behind their number, and returns its end. */
function writeText(from: Uint8Array, at: number, room: number, to: Uint8Array, start: number): number {
  let length = 0
  while (length < room && from[at + length] !== 0) length++
  let place = start
  if (length < 255) to[place++] = length
  else {
    to[place++] = 255
    to[place++] = length >> 8
    to[place++] = length & 0xff
  }
  to.set(from.subarray(at, at + length), place)
  return place + length
}
