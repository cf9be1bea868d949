/** A label that wants to stand at `y`. */
export interface EndLabel {
  readonly y: number
}

/**
 * Moves labels apart so that any two are at least `distance` pixels from each other and all lie between `top` and
 * `bottom`, as near to where they want to be as that allows. Returns the new heights in the order given. Labels that do
 * not fit at all are squeezed evenly.
 */
export function spreadLabels(labels: readonly EndLabel[], distance: number, top: number, bottom: number): number[] {
  const order = labels.map((_, position) => position).sort((a, b) => labels[a]!.y - labels[b]!.y || a - b)
  const room = Math.max(0, bottom - top)
  const gap = order.length > 1 ? Math.min(distance, room / (order.length - 1)) : distance
  // Neighbours that touch become one cluster, centred on the mean of their wanted positions.
  const clusters: { members: number[]; centre: number }[] = []
  for (const position of order) {
    let cluster = { members: [position], centre: labels[position]!.y }
    for (let before = clusters.at(-1); before && overlap(before, cluster, gap); before = clusters.at(-1)) {
      clusters.pop()
      const members = [...before.members, ...cluster.members]
      cluster = { members, centre: members.reduce((sum, member) => sum + labels[member]!.y, 0) / members.length }
    }
    clusters.push(cluster)
  }
  const result = new Array<number>(labels.length).fill(0)
  let floor = top
  for (const { members, centre } of clusters) {
    const half = ((members.length - 1) * gap) / 2
    let at = Math.max(floor, centre - half)
    for (const member of members) {
      result[member] = at
      at += gap
    }
    floor = at
  }
  // The last pass pushes what passed the bottom back up.
  let ceiling = bottom
  for (const member of order.toReversed()) {
    if (result[member]! > ceiling) result[member] = ceiling
    ceiling = result[member]! - gap
  }
  return result
}

function overlap(
  above: { readonly members: readonly number[]; readonly centre: number },
  below: { readonly members: readonly number[]; readonly centre: number },
  gap: number,
): boolean {
  const reach = ((above.members.length - 1) / 2 + (below.members.length - 1) / 2 + 1) * gap
  return below.centre - above.centre < reach
}
