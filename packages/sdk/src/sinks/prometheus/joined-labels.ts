import type { AddedLabels } from '../../wire/prometheus/label-text.ts'

/** The added labels of two origins; those of the second win. */
export function joinedLabels(first: AddedLabels | undefined, second: AddedLabels | undefined): AddedLabels | undefined {
  if (first === undefined || second === undefined) return first ?? second
  return {
    names: [...new Set([...first.names, ...second.names])],
    of: (type, source, own) => ({ ...first.of(type, source, own), ...second.of(type, source, own) }),
  }
}
