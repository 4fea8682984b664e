// Points in the square from -1 to 1, sorted into cells so that those in view are found at once.
// Points are numbered by importance, and so are those of each cell: drawing only the first few of
// each cell leaves out what would not be seen anyway.

export class Grid {
  constructor(x, y) {
    this.x = x;
    this.y = y;
    this.side = Math.max(1, Math.min(256, Math.ceil(Math.sqrt(x.length / 4))));
    const n = this.side * this.side;
    const cells = new Int32Array(x.length);
    this.begins = new Int32Array(n + 1);
    for (let i = 0; i < x.length; i += 1) {
      cells[i] = this.row(y[i]) * this.side + this.row(x[i]);
      this.begins[cells[i] + 1] += 1;
    }
    for (let c = 0; c < n; c += 1) this.begins[c + 1] += this.begins[c];
    const next = this.begins.slice();
    this.items = new Int32Array(x.length);
    for (let i = 0; i < x.length; i += 1) this.items[next[cells[i]]++] = i;
  }

  row(value) {
    const at = Math.floor(((value + 1) / 2) * this.side);
    return at < 0 ? 0 : at >= this.side ? this.side - 1 : at;
  }

  // Calls use(i) for at most perCell points of every cell that touches the box.
  within(left, top, right, bottom, perCell, use) {
    const firstColumn = this.row(left);
    const lastColumn = this.row(right);
    const lastRow = this.row(bottom);
    for (let row = this.row(top); row <= lastRow; row += 1) {
      for (let column = firstColumn; column <= lastColumn; column += 1) {
        const cell = row * this.side + column;
        const end = Math.min(this.begins[cell + 1], this.begins[cell] + perCell);
        for (let at = this.begins[cell]; at < end; at += 1) use(this.items[at]);
      }
    }
  }

  // The point nearest to a place, no further away than reach; -1 if there is none.
  nearest(x, y, reach) {
    let best = -1;
    let least = reach * reach;
    this.within(x - reach, y - reach, x + reach, y + reach, Infinity, (i) => {
      const distance = (this.x[i] - x) ** 2 + (this.y[i] - y) ** 2;
      if (distance <= least) {
        least = distance;
        best = i;
      }
    });
    return best;
  }
}
