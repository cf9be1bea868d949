import type { NodeSource, Probe, SourceContext } from './source.ts'

/** A source whose only duty is one sample an interval. */
export interface SampledSource extends Pick<NodeSource, 'command' | 'close' | 'found'> {
  probe(): Probe | Promise<Probe>
  /** Reads everything once and reports it. Throws when nothing at all could be read. */
  sample(): void | Promise<void>
}

/** A source of one sample an interval, as a host runs it. */
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
