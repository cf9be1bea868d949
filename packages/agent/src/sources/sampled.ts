import type { NodeSource, Probe, SourceContext } from './source.ts'

/** A source with only one duty: one sample per interval. */
export interface SampledSource extends Pick<NodeSource, 'command' | 'close' | 'found'> {
  probe(): Probe | Promise<Probe>
  /** Reads and reports everything once. Throws if nothing could be read. */
  sample(): void | Promise<void>
}

/** Makes a schedulable source from one that takes a sample per interval. */
export function sampled(source: SampledSource, { intervalMs }: Pick<SourceContext, 'intervalMs'>): NodeSource {
  const everyUs = intervalMs * 1000
  const duties = [{ device: '', name: 'sample', everyUs, paces: 'report' as const, run: () => source.sample() }]
  return {
    probe: () => source.probe(),
    duties: () => duties,
    close: () => source.close(),
    ...(source.found === undefined ? {} : { found: () => source.found?.() ?? '' }),
    ...(source.command === undefined ? {} : { command: (command: unknown) => source.command?.(command) }),
  }
}
