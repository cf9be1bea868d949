import type { FaultLoop } from './loop.ts'
import { clock } from './loops/clock.ts'
import { counters } from './loops/counters.ts'
import { damage } from './loops/damage.ts'
import { day } from './loops/day.ts'
import { dtb } from './loops/dtb.ts'
import { fieldsets } from './loops/fieldsets.ts'
import { files } from './loops/files.ts'
import { frames } from './loops/frames.ts'
import { hang } from './loops/hang.ts'
import { kill } from './loops/kill.ts'
import { pages } from './loops/pages.ts'
import { roots } from './loops/roots.ts'
import { service } from './loops/service.ts'
import { soak } from './loops/soak.ts'

/** Every fault loop there is. A new one is a file in `loops/` and a row here. */
export const LOOPS: readonly FaultLoop[] = [
  clock,
  counters,
  damage,
  day,
  dtb,
  fieldsets,
  files,
  frames,
  hang,
  kill,
  pages,
  roots,
  service,
  soak,
]
