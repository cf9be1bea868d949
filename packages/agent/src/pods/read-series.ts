import type { Labels } from '@sonde/sdk'

/** Parses the labels of a series in `sonde_absence`: `namespace="ml",pod="a"`. Other text is skipped. */
export function readSeries(text: string): Labels {
  const labels: Record<string, string> = {}
  for (const [, name = '', value = ''] of text.matchAll(/(?:^|,)([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g))
    labels[name] = value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped))
  return labels
}
