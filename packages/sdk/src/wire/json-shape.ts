/** The costs of JSON for its reader, beside its bytes. */
export interface JsonShape {
  /** How deep its brackets nest. */
  readonly depth: number
  /** Its lists, objects and members of objects. */
  readonly nodes: number
}

/**
 * The shape of JSON, without reading it: brackets and colons that are not within a text. For bytes that are no JSON the
 * numbers mean nothing; parsing refuses those.
 */
export function shapeOfJson(json: Uint8Array): JsonShape {
  let depth = 0
  let deepest = 0
  let nodes = 0
  let isInText = false
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === 0x22) isInText = !isInText
    else if (isInText) at += byte === 0x5c ? 1 : 0
    else if (byte === 0x5b || byte === 0x7b) {
      deepest = Math.max(deepest, ++depth)
      nodes++
    } else if (byte === 0x5d || byte === 0x7d) depth--
    else if (byte === 0x3a) nodes++
  }
  return { depth: deepest, nodes }
}
