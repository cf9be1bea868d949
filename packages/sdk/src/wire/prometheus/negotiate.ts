import type { Format } from './header.ts'

interface Range {
  readonly media: string
  readonly parameters: ReadonlyMap<string, string>
  readonly q: number
}

/**
 * Versions of each format that ours reads as. Prometheus 3 asks for text 1.0.0, which differs in names that we never
 * have.
 */
const VERSIONS: Readonly<Record<Format, readonly string[]>> = {
  openmetrics: ['1.0.0'],
  text: ['0.0.4', '1.0.0'],
}
const MEDIA: Readonly<Record<Format, readonly string[]>> = {
  openmetrics: ['application/openmetrics-text', 'application/*', '*/*'],
  text: ['text/plain', 'text/*', '*/*'],
}

/**
 * The format that an `Accept` header prefers: the format whose most specific range has the highest q. Between equals, a
 * named format wins over a wildcard, then the first named format. Text 0.0.4 if nothing matches, as Prometheus clients
 * do. Other parameters than `q` and `version` (`escaping`, `charset`) are ignored: our names are valid under every
 * escaping.
 */
export function negotiateFormat(accept: string | undefined): Format {
  const ranges = rangesOf(accept ?? '')
  const text = preference(ranges, 'text')
  const openmetrics = preference(ranges, 'openmetrics')
  if (openmetrics.q !== text.q) return openmetrics.q > text.q ? 'openmetrics' : 'text'
  if (text.q === 0) return 'text'
  const isOpenmetrics =
    openmetrics.named === text.named ? openmetrics.place < text.place : openmetrics.named < text.named
  return isOpenmetrics ? 'openmetrics' : 'text'
}

/** Whether an `Accept-Encoding` header takes gzip. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  const ranges = rangesOf(acceptEncoding ?? '')
  const range =
    ranges.find(({ media }) => media === 'gzip' || media === 'x-gzip') ?? ranges.find(({ media }) => media === '*')
  return range !== undefined && range.q > 0
}

/** q of a format by its most specific range; `named` is 0 for its own media type and rises with the wildcards. */
function preference(ranges: readonly Range[], format: Format): { q: number; named: number; place: number } {
  for (const [named, media] of MEDIA[format].entries()) {
    let best = { q: -1, named, place: -1 }
    for (const [place, range] of ranges.entries()) {
      const version = range.parameters.get('version')
      const fits = range.media === media && (version === undefined || VERSIONS[format].includes(version))
      if (fits && range.q > best.q) best = { q: range.q, named, place }
    }
    if (best.q >= 0) return best
  }
  return { q: 0, named: MEDIA[format].length, place: ranges.length }
}

function rangesOf(header: string): Range[] {
  return header
    .split(',')
    .map(rangeOf)
    .filter(({ media }) => media !== '')
}

function rangeOf(text: string): Range {
  const [media = '', ...rest] = text.split(';').map((part) => part.trim())
  const parameters = new Map<string, string>()
  for (const part of rest) {
    const [name = '', value = ''] = part.split('=', 2)
    parameters.set(name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, '$1'))
  }
  const q = Number(parameters.get('q') ?? 1)
  return { media: media.toLowerCase(), parameters, q: q >= 0 && q <= 1 ? q : 0 }
}
