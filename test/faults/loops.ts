import type { FaultLoop } from './loop.ts'
import { cgroup } from './loops/cgroup.ts'
import { churn } from './loops/churn.ts'
import { clock } from './loops/clock.ts'
import { compact } from './loops/compact.ts'
import { container } from './loops/container.ts'
import { counters } from './loops/counters.ts'
import { damage } from './loops/damage.ts'
import { day } from './loops/day.ts'
import { doca } from './loops/doca.ts'
import { docaSources } from './loops/doca-sources.ts'
import { dtb } from './loops/dtb.ts'
import { events } from './loops/events.ts'
import { fieldsets } from './loops/fieldsets.ts'
import { files } from './loops/files.ts'
import { frames } from './loops/frames.ts'
import { hang } from './loops/hang.ts'
import { health } from './loops/health.ts'
import { hints } from './loops/hints.ts'
import { hostile } from './loops/hostile.ts'
import { incidents } from './loops/incidents.ts'
import { kill } from './loops/kill.ts'
import { link } from './loops/link.ts'
import { marks } from './loops/marks.ts'
import { pages } from './loops/pages.ts'
import { forward, outage, queue } from './loops/queue.ts'
import { readers } from './loops/readers.ts'
import { recipe } from './loops/recipe.ts'
import { roots } from './loops/roots.ts'
import { scrapes } from './loops/scrapes.ts'
import { service } from './loops/service.ts'
import { soak } from './loops/soak.ts'
import { traceback } from './loops/traceback.ts'

/** Faulty input to a part of Sonde in this process. */
export const INPUT: readonly FaultLoop[] = [
  ...[counters, day, dtb, fieldsets, frames, health, hints, link, pages, readers, scrapes, traceback],
]

/** What ends a process of Sonde. */
export const ENDS: readonly FaultLoop[] = [compact, doca, docaSources, events, files, hang, incidents, kill]

/** What clients do to the service, and what happens to them when it ends. */
export const SERVICE: readonly FaultLoop[] = [forward, hostile, outage, queue, service]

/** What happens to the machine below it. */
export const MACHINE: readonly FaultLoop[] = [cgroup, clock, container, damage, recipe, roots, soak]

/** Months of simulated time, whose clock is that of the whole process. */
export const MONTHS: readonly FaultLoop[] = [churn, marks]

/**
 * Every fault loop there is. A new one is a file in `loops/` and a name in one of these lists, each of which is a file
 * of tests.
 */
export const LOOPS: readonly FaultLoop[] = [...INPUT, ...ENDS, ...SERVICE, ...MACHINE, ...MONTHS].sort((a, b) =>
  a.name < b.name ? -1 : 1,
)
