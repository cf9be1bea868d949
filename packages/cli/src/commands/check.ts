import { probeSources } from '@sonde/agent'
import type { Loaded } from '../config/load.ts'

/** `sonde check`: says whether the configuration is sound and what each source would find here. Exit code 0 unless a source is denied or stuck. */
export async function check({ config, file }: Loaded): Promise<number> {
  console.log(`configuration  ok       ${file ?? 'defaults (no file)'}`)
  const found = await probeSources(config.agent)
  const width = Math.max(13, ...found.map(({ name }) => name.length))
  for (const { name, probe } of found) {
    console.log(
      `${name.padEnd(width)}  ${probe.state.padEnd(7)}  ${probe.state === 'present' ? probe.found : probe.reason}`,
    )
  }
  return found.some(({ probe }) => probe.state === 'denied' || probe.state === 'stuck') ? 1 : 0
}
