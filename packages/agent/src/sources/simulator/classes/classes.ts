import { B200, H100, H200 } from './hardware.ts'
import { hgxClass } from './hgx.ts'
import type { NodeClass } from './node-class.ts'
import { dpuHost, small } from './others.ts'

/** All node classes; the first is the default. */
export const NODE_CLASSES = [
  hgxClass('hgx-h100', H100),
  hgxClass('hgx-h200', H200),
  hgxClass('hgx-b200', B200),
  dpuHost,
  small,
] as const satisfies readonly NodeClass[]
