#include "peer/cli/bibtex.h"

#include <algorithm>
#include <array>

namespace gv::cli {
namespace {

struct Paper {
  std::string_view kinds;  ///< separated by spaces
  std::string_view entry;
};

// clang-format off
constexpr std::array papers{
    Paper{"d-psgd",
     R"bib(@inproceedings{lian2017can,
  author = {Lian, Xiangru and Zhang, Ce and Zhang, Huan and Hsieh, Cho-Jui and Zhang, Wei and
    Liu, Ji},
  title = {Can Decentralized Algorithms Outperform Centralized Algorithms? {A} Case Study for
    Decentralized Parallel Stochastic Gradient Descent},
  booktitle = {Advances in Neural Information Processing Systems},
  eprint = {1705.09056},
  archivePrefix = {arXiv},
  year = {2017}
}
)bib"},
    Paper{"sparta",
     R"bib(@inproceedings{beton2025improving,
  author = {Beton, Matt and Reed, Matthew and Howes, Seth and Cheema, Alex and Baioumy, Mohamed},
  title = {Improving the Efficiency of Distributed Training Using Sparse Parameter Averaging},
  booktitle = {ICLR Workshop on Modularity for Collaborative, Decentralized, and Continual Deep
    Learning},
  url = {https://openreview.net/forum?id=stFPf3gzq1},
  year = {2025}
}
)bib"},
    Paper{"all-reduce",
     R"bib(@article{patarasuk2009bandwidth,
  author = {Patarasuk, Pitch and Yuan, Xin},
  title = {Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations},
  journal = {Journal of Parallel and Distributed Computing},
  volume = {69},
  number = {2},
  pages = {117--124},
  year = {2009}
}
)bib"},
    Paper{"all-reduce",
     R"bib(@article{thakur2005optimization,
  author = {Thakur, Rajeev and Rabenseifner, Rolf and Gropp, William},
  title = {Optimization of Collective Communication Operations in {MPICH}},
  journal = {International Journal of High Performance Computing Applications},
  volume = {19},
  number = {1},
  pages = {49--66},
  year = {2005}
}
)bib"},
    Paper{"all-reduce",
     R"bib(@misc{jia2018highly,
  author = {Jia, Xianyan and others},
  title = {Highly Scalable Deep Learning Training System with Mixed-Precision: Training
    {ImageNet} in Four Minutes},
  eprint = {1807.11205},
  archivePrefix = {arXiv},
  year = {2018}
}
)bib"},
    Paper{"local-sgd",
     R"bib(@inproceedings{stich2019local,
  author = {Stich, Sebastian U.},
  title = {Local {SGD} Converges Fast and Communicates Little},
  booktitle = {International Conference on Learning Representations},
  eprint = {1805.09767},
  archivePrefix = {arXiv},
  year = {2019}
}
)bib"},
    Paper{"diloco",
     R"bib(@misc{douillard2023diloco,
  author = {Douillard, Arthur and others},
  title = {{DiLoCo}: Distributed Low-Communication Training of Language Models},
  eprint = {2311.08105},
  archivePrefix = {arXiv},
  year = {2023}
}
)bib"},
    Paper{"streaming-diloco",
     R"bib(@misc{douillard2025streaming,
  author = {Douillard, Arthur and Donchev, Yanislav and Rush, Keith and Kale, Satyen and Charles,
    Zachary and Garrett, Zachary and Teston, Gabriel and Lacey, Dave and McIlroy, Ross and Shen,
    Jiajun and Ram{\'e}, Alexandre and Szlam, Arthur and Ranzato, Marc'Aurelio and Barham, Paul},
  title = {{Streaming DiLoCo} with Overlapping Communication: Towards a Distributed Free Lunch},
  eprint = {2501.18512},
  archivePrefix = {arXiv},
  year = {2025}
}
)bib"},
    Paper{"eager-diloco",
     R"bib(@misc{kale2025eager,
  author = {Kale, Satyen and Douillard, Arthur and Donchev, Yanislav},
  title = {Eager Updates for Overlapped Communication and Computation in {DiLoCo}},
  eprint = {2502.12996},
  archivePrefix = {arXiv},
  year = {2025}
}
)bib"},
    Paper{"factored-diloco",
     R"bib(@inproceedings{koneputugodage2026factored,
  author = {Koneputugodage, Chamin Hewa and Ajanthan, Thalaiyasingam and Ramasinghe, Sameera and
    Mohaghegh Dolatabadi, Hadi and Siriwardhana, Shamane and Avraham, Gil and Shevchenko, Violetta
    and Pajak, Karol and Snewin, James and Long, Alexander},
  title = {Factored Gossip {DiLoCo}: Reducing Blocking Communication in {DiLoCo}},
  booktitle = {International Conference on Machine Learning},
  eprint = {2606.22768},
  archivePrefix = {arXiv},
  year = {2026}
}
)bib"},
    Paper{"sparse-loco",
     R"bib(@misc{sarfi2025communication,
  author = {Sarfi, Amir and Th{\'e}rien, Benjamin and Lidin, Joel and Belilovsky, Eugene},
  title = {Communication Efficient {LLM} Pre-training with {SparseLoCo}},
  eprint = {2508.15706},
  archivePrefix = {arXiv},
  year = {2025}
}
)bib"},
    Paper{"slowmo",
     R"bib(@inproceedings{wang2020slowmo,
  author = {Wang, Jianyu and Tantia, Vinayak and Ballas, Nicolas and Rabbat, Michael},
  title = {{SlowMo}: Improving Communication-Efficient Distributed {SGD} with Slow Momentum},
  booktitle = {International Conference on Learning Representations},
  eprint = {1910.00643},
  archivePrefix = {arXiv},
  year = {2020}
}
)bib"},
    Paper{"noloco",
     R"bib(@misc{kolehmainen2025noloco,
  author = {Kolehmainen, Jari and Blagoev, Nikolay and Donaghy, John and Ersoy, O{\u{g}}uzhan and
    Nies, Christopher},
  title = {{NoLoCo}: No-all-reduce Low Communication Training Method for Large Models},
  eprint = {2506.10911},
  archivePrefix = {arXiv},
  year = {2025}
}
)bib"},
    Paper{"d2",
     R"bib(@inproceedings{tang2018d2,
  author = {Tang, Hanlin and Lian, Xiangru and Yan, Ming and Zhang, Ce and Liu, Ji},
  title = {{D}$^2$: Decentralized Training over Decentralized Data},
  booktitle = {International Conference on Machine Learning},
  eprint = {1803.07068},
  archivePrefix = {arXiv},
  year = {2018}
}
)bib"},
    Paper{"extra",
     R"bib(@article{shi2015extra,
  author = {Shi, Wei and Ling, Qing and Wu, Gang and Yin, Wotao},
  title = {{EXTRA}: An Exact First-Order Algorithm for Decentralized Consensus Optimization},
  journal = {SIAM Journal on Optimization},
  volume = {25},
  number = {2},
  pages = {944--966},
  eprint = {1404.6264},
  archivePrefix = {arXiv},
  year = {2015}
}
)bib"},
    Paper{"nids",
     R"bib(@article{li2019decentralized,
  author = {Li, Zhi and Shi, Wei and Yan, Ming},
  title = {A Decentralized Proximal-Gradient Method with Network Independent Step-Sizes and
    Separated Convergence Rates},
  journal = {IEEE Transactions on Signal Processing},
  volume = {67},
  number = {17},
  pages = {4494--4506},
  eprint = {1704.07807},
  archivePrefix = {arXiv},
  year = {2019}
}
)bib"},
    Paper{"led",
     R"bib(@article{alghunaim2024local,
  author = {Alghunaim, Sulaiman A.},
  title = {Local Exact-Diffusion for Decentralized Optimization and Learning},
  journal = {IEEE Transactions on Automatic Control},
  eprint = {2302.00620},
  archivePrefix = {arXiv},
  year = {2024}
}
)bib"},
    Paper{"proxskip",
     R"bib(@inproceedings{mishchenko2022proxskip,
  author = {Mishchenko, Konstantin and Malinovsky, Grigory and Stich, Sebastian and Richt{\'a}rik,
    Peter},
  title = {{ProxSkip}: Yes! {L}ocal Gradient Steps Provably Lead to Communication Acceleration!
    {F}inally!},
  booktitle = {International Conference on Machine Learning},
  eprint = {2202.09357},
  archivePrefix = {arXiv},
  year = {2022}
}
@misc{guo2023revisiting,
  author = {Guo, Luyao and Alghunaim, Sulaiman A. and Yuan, Kun and Condat, Laurent and Cao, Jinde},
  title = {Revisiting Decentralized {ProxSkip}: Achieving Linear Speedup},
  eprint = {2310.07983},
  archivePrefix = {arXiv},
  year = {2023}
}
)bib"},
    Paper{"gradient-tracking",
     R"bib(@article{pu2021distributed,
  author = {Pu, Shi and Nedi{\'c}, Angelia},
  title = {Distributed Stochastic Gradient Tracking Methods},
  journal = {Mathematical Programming},
  volume = {187},
  pages = {409--457},
  eprint = {1805.11454},
  archivePrefix = {arXiv},
  year = {2021}
}
)bib"},
    Paper{"aug-dgm",
     R"bib(@inproceedings{xu2015augmented,
  author = {Xu, Jinming and Zhu, Shanying and Soh, Yeng Chai and Xie, Lihua},
  title = {Augmented Distributed Gradient Methods for Multi-Agent Optimization Under Uncoordinated
    Constant Stepsizes},
  booktitle = {IEEE Conference on Decision and Control},
  pages = {2055--2060},
  year = {2015}
}
@inproceedings{nedic2017geometrically,
  author = {Nedi{\'c}, Angelia and Olshevsky, Alex and Shi, Wei and Uribe, C{\'e}sar A.},
  title = {Geometrically Convergent Distributed Optimization with Uncoordinated Step-Sizes},
  booktitle = {American Control Conference},
  eprint = {1609.05877},
  archivePrefix = {arXiv},
  year = {2017}
}
)bib"},
    Paper{"momentum-tracking",
     R"bib(@article{takezawa2023momentum,
  author = {Takezawa, Yuki and Bao, Han and Niwa, Kenta and Sato, Ryoma and Yamada, Makoto},
  title = {Momentum Tracking: Momentum Acceleration for Decentralized Deep Learning on
    Heterogeneous Data},
  journal = {Transactions on Machine Learning Research},
  eprint = {2209.15505},
  archivePrefix = {arXiv},
  year = {2023}
}
)bib"},
    Paper{"beer",
     R"bib(@inproceedings{zhao2022beer,
  author = {Zhao, Haoyu and Li, Boyue and Li, Zhize and Richt{\'a}rik, Peter and Chi, Yuejie},
  title = {{BEER}: Fast {O(1/T)} Rate for Decentralized Nonconvex Optimization with Communication
    Compression},
  booktitle = {Advances in Neural Information Processing Systems},
  eprint = {2201.13320},
  archivePrefix = {arXiv},
  year = {2022}
}
)bib"},
    Paper{"motef",
     R"bib(@misc{islamov2024towards,
  author = {Islamov, Rustem and Gao, Yuan and Stich, Sebastian U.},
  title = {Towards Faster Decentralized Stochastic Optimization with Communication Compression},
  eprint = {2405.20114},
  archivePrefix = {arXiv},
  year = {2024}
}
)bib"},
    Paper{"gt-adam",
     R"bib(@article{carnevale2023gtadam,
  author = {Carnevale, Guido and Farina, Francesco and Notarnicola, Ivano and Notarstefano,
    Giuseppe},
  title = {{GTAdam}: Gradient Tracking with Adaptive Momentum for Distributed Online Optimization},
  journal = {IEEE Transactions on Control of Network Systems},
  eprint = {2009.01745},
  archivePrefix = {arXiv},
  year = {2023}
}
)bib"},
    Paper{"k-gt",
     R"bib(@misc{liu2023decentralized,
  author = {Liu, Yue and Lin, Tao and Koloskova, Anastasia and Stich, Sebastian U.},
  title = {Decentralized Gradient Tracking with Local Steps},
  eprint = {2301.01313},
  archivePrefix = {arXiv},
  year = {2023}
}
)bib"},
    Paper{"gut",
     R"bib(@inproceedings{aketi2023global,
  author = {Aketi, Sai Aparna and Hashemi, Abolfazl and Roy, Kaushik},
  title = {Global Update Tracking: A Decentralized Learning Algorithm for Heterogeneous Data},
  booktitle = {Advances in Neural Information Processing Systems},
  eprint = {2305.04792},
  archivePrefix = {arXiv},
  year = {2023}
}
)bib"},
    Paper{"quasi-global-momentum",
     R"bib(@inproceedings{lin2021quasi,
  author = {Lin, Tao and Karimireddy, Sai Praneeth and Stich, Sebastian U. and Jaggi, Martin},
  title = {Quasi-Global Momentum: Accelerating Decentralized Deep Learning on Heterogeneous
    Data},
  booktitle = {International Conference on Machine Learning},
  eprint = {2102.04761},
  archivePrefix = {arXiv},
  year = {2021}
}
)bib"},
    Paper{"decentlam",
     R"bib(@inproceedings{yuan2021decentlam,
  author = {Yuan, Kun and Chen, Yiming and Huang, Xinmeng and Zhang, Yingya and Pan, Pan and Xu,
    Yinghui and Yin, Wotao},
  title = {{DecentLaM}: Decentralized Momentum {SGD} for Large-batch Deep Training},
  booktitle = {IEEE/CVF International Conference on Computer Vision},
  eprint = {2104.11981},
  archivePrefix = {arXiv},
  year = {2021}
}
)bib"},
    Paper{"gossip-pga",
     R"bib(@inproceedings{chen2021accelerating,
  author = {Chen, Yiming and Yuan, Kun and Zhang, Yingya and Pan, Pan and Xu, Yinghui and Yin,
    Wotao},
  title = {Accelerating Gossip {SGD} with Periodic Global Averaging},
  booktitle = {International Conference on Machine Learning},
  eprint = {2105.09080},
  archivePrefix = {arXiv},
  year = {2021}
}
)bib"},
    Paper{"choco-sgd",
     R"bib(@inproceedings{koloskova2019decentralized,
  author = {Koloskova, Anastasia and Stich, Sebastian U. and Jaggi, Martin},
  title = {Decentralized Stochastic Optimization and Gossip Algorithms with Compressed
    Communication},
  booktitle = {International Conference on Machine Learning},
  eprint = {1902.00340},
  archivePrefix = {arXiv},
  year = {2019}
}
)bib"},
    Paper{"deep-squeeze",
     R"bib(@misc{tang2019deepsqueeze,
  author = {Tang, Hanlin and Lian, Xiangru and Qiu, Shuang and Yuan, Lei and Zhang, Ce and
    Zhang, Tong and Liu, Ji},
  title = {{DeepSqueeze}: Decentralization Meets Error-Compensated Compression},
  eprint = {1907.07346},
  archivePrefix = {arXiv},
  year = {2019}
}
)bib"},
    Paper{"clipped-gossip",
     R"bib(@misc{he2022byzantine,
  author = {He, Lie and Karimireddy, Sai Praneeth and Jaggi, Martin},
  title = {Byzantine-Robust Decentralized Learning via {ClippedGossip}},
  eprint = {2202.01545},
  archivePrefix = {arXiv},
  year = {2022}
}
)bib"},
    Paper{"robust-gossip",
     R"bib(@inproceedings{farhadkhani2023robust,
  author = {Farhadkhani, Sadegh and Guerraoui, Rachid and Gupta, Nirupam and
    Hoang, L{\^e}-Nguy{\^e}n and Pinot, Rafael and Stephan, John},
  title = {Robust Collaborative Learning with Linear Gradient Overhead},
  booktitle = {International Conference on Machine Learning},
  eprint = {2209.10931},
  archivePrefix = {arXiv},
  year = {2023}
}
)bib"},
    Paper{"robust-gossip",
     R"bib(@misc{yang2019bridge,
  author = {Yang, Zhixiong and Bajwa, Waheed U.},
  title = {{BRIDGE}: {Byzantine}-Resilient Decentralized Gradient Descent},
  eprint = {1908.08098},
  archivePrefix = {arXiv},
  year = {2019}
}
)bib"},
    Paper{"robust-gossip parameter-server fedavg",
     R"bib(@inproceedings{allouah2023fixing,
  author = {Allouah, Youssef and Farhadkhani, Sadegh and Guerraoui, Rachid and Gupta, Nirupam and
    Pinot, Rafael and Stephan, John},
  title = {Fixing by Mixing: A Recipe for Optimal {Byzantine} {ML} under Heterogeneity},
  booktitle = {International Conference on Artificial Intelligence and Statistics},
  eprint = {2302.01772},
  archivePrefix = {arXiv},
  year = {2023}
}
)bib"},
    Paper{"relay-sgd",
     R"bib(@inproceedings{vogels2021relaysum,
  author = {Vogels, Thijs and He, Lie and Koloskova, Anastasia and Lin, Tao and Karimireddy, Sai
    Praneeth and Stich, Sebastian U. and Jaggi, Martin},
  title = {{RelaySum} for Decentralized Deep Learning on Heterogeneous Data},
  booktitle = {Advances in Neural Information Processing Systems},
  eprint = {2110.04175},
  archivePrefix = {arXiv},
  year = {2021}
}
)bib"},
    Paper{"sgp",
     R"bib(@inproceedings{assran2019stochastic,
  author = {Assran, Mahmoud and Loizou, Nicolas and Ballas, Nicolas and Rabbat, Michael},
  title = {Stochastic Gradient Push for Distributed Deep Learning},
  booktitle = {International Conference on Machine Learning},
  eprint = {1811.10792},
  archivePrefix = {arXiv},
  year = {2019}
}
)bib"},
    Paper{"ad-psgd",
     R"bib(@inproceedings{lian2018asynchronous,
  author = {Lian, Xiangru and Zhang, Wei and Zhang, Ce and Liu, Ji},
  title = {Asynchronous Decentralized Parallel Stochastic Gradient Descent},
  booktitle = {International Conference on Machine Learning},
  eprint = {1710.06952},
  archivePrefix = {arXiv},
  year = {2018}
}
)bib"},
    Paper{"parameter-server",
     R"bib(@inproceedings{li2014scaling,
  author = {Li, Mu and others},
  title = {Scaling Distributed Machine Learning with the Parameter Server},
  booktitle = {USENIX Symposium on Operating Systems Design and Implementation},
  year = {2014}
}
)bib"},
    Paper{"parameter-server downpour",
     R"bib(@inproceedings{dean2012large,
  author = {Dean, Jeffrey and others},
  title = {Large Scale Distributed Deep Networks},
  booktitle = {Advances in Neural Information Processing Systems},
  year = {2012}
}
)bib"},
    Paper{"downpour",
     R"bib(@inproceedings{nguyen2022federated,
  author = {Nguyen, John and Malik, Kshitiz and Zhan, Hongyuan and Yousefpour, Ashkan and Rabbat,
    Michael and Malek, Mani and Huba, Dzmitry},
  title = {Federated Learning with Buffered Asynchronous Aggregation},
  booktitle = {International Conference on Artificial Intelligence and Statistics},
  eprint = {2106.06581},
  archivePrefix = {arXiv},
  year = {2022}
}
)bib"},
    Paper{"decoupled-diloco",
     R"bib(@misc{douillard2026decoupled,
  author = {Douillard, Arthur and Rush, Keith and Donchev, Yani and Charles, Zachary and Fallen,
    Nova and Dubey, Ayush and Gog, Ionel and Dean, Josef and Woodworth, Blake and Garrett, Zachary
    and Keating, Nate and Bishop, Jenny and Prior, Henry and Yvinec, Edouard and Szlam, Arthur and
    Ranzato, Marc'Aurelio and Dean, Jeff},
  title = {Decoupled {DiLoCo} for Resilient Distributed Pre-training},
  eprint = {2604.21428},
  archivePrefix = {arXiv},
  year = {2026}
}
)bib"},
    Paper{"async-diloco",
     R"bib(@misc{liu2024asynchronous,
  author = {Liu, Bo and Chhaparia, Rachita and Douillard, Arthur and Kale, Satyen and Rusu, Andrei
    A. and Shen, Jiajun and Szlam, Arthur and Ranzato, Marc'Aurelio},
  title = {Asynchronous {Local-SGD} Training for Language Modeling},
  eprint = {2401.09135},
  archivePrefix = {arXiv},
  year = {2024}
}
)bib"},
    Paper{"parameter-server fedavg",
     R"bib(@inproceedings{blanchard2017machine,
  author = {Blanchard, Peva and El Mhamdi, El Mahdi and Guerraoui, Rachid and Stainer, Julien},
  title = {Machine Learning with Adversaries: {Byzantine} Tolerant Gradient Descent},
  booktitle = {Advances in Neural Information Processing Systems},
  year = {2017}
}
)bib"},
    Paper{"parameter-server fedavg",
     R"bib(@inproceedings{yin2018byzantine,
  author = {Yin, Dong and Chen, Yudong and Kannan, Ramchandran and Bartlett, Peter},
  title = {{Byzantine}-Robust Distributed Learning: Towards Optimal Statistical Rates},
  booktitle = {International Conference on Machine Learning},
  eprint = {1803.01498},
  archivePrefix = {arXiv},
  year = {2018}
}
)bib"},
    Paper{"easgd",
     R"bib(@inproceedings{zhang2015deep,
  author = {Zhang, Sixin and Choromanska, Anna and LeCun, Yann},
  title = {Deep Learning with Elastic Averaging {SGD}},
  booktitle = {Advances in Neural Information Processing Systems},
  eprint = {1412.6651},
  archivePrefix = {arXiv},
  year = {2015}
}
)bib"},
    Paper{"fedavg",
     R"bib(@inproceedings{mcmahan2017communication,
  author = {McMahan, H. Brendan and Moore, Eider and Ramage, Daniel and Hampson, Seth and
    Ag{\"u}era y Arcas, Blaise},
  title = {Communication-Efficient Learning of Deep Networks from Decentralized Data},
  booktitle = {International Conference on Artificial Intelligence and Statistics},
  eprint = {1602.05629},
  archivePrefix = {arXiv},
  year = {2017}
}
)bib"},
    Paper{"fedavg",
     R"bib(@inproceedings{li2020federated,
  author = {Li, Tian and Sahu, Anit Kumar and Zaheer, Manzil and Sanjabi, Maziar and Talwalkar,
    Ameet and Smith, Virginia},
  title = {Federated Optimization in Heterogeneous Networks},
  booktitle = {Conference on Machine Learning and Systems},
  eprint = {1812.06127},
  archivePrefix = {arXiv},
  year = {2020}
}
)bib"},
    Paper{"fedavg",
     R"bib(@inproceedings{reddi2021adaptive,
  author = {Reddi, Sashank J. and Charles, Zachary and Zaheer, Manzil and Garrett, Zachary and
    Rush, Keith and Kone{\v{c}}n{\'y}, Jakub and Kumar, Sanjiv and McMahan, H. Brendan},
  title = {Adaptive Federated Optimization},
  booktitle = {International Conference on Learning Representations},
  eprint = {2003.00295},
  archivePrefix = {arXiv},
  year = {2021}
}
)bib"},
    Paper{"scaffold",
     R"bib(@inproceedings{karimireddy2020scaffold,
  author = {Karimireddy, Sai Praneeth and Kale, Satyen and Mohri, Mehryar and Reddi, Sashank J. and
    Stich, Sebastian U. and Suresh, Ananda Theertha},
  title = {{SCAFFOLD}: Stochastic Controlled Averaging for Federated Learning},
  booktitle = {International Conference on Machine Learning},
  eprint = {1910.06378},
  archivePrefix = {arXiv},
  year = {2020}
}
)bib"},
    Paper{"flexrr",
     R"bib(@inproceedings{harlap2016addressing,
  author = {Harlap, Aaron and Cui, Henggang and Dai, Wei and Wei, Jinliang and Ganger, Gregory
    R. and Gibbons, Phillip B. and Gibson, Garth A. and Xing, Eric P.},
  title = {Addressing the Straggler Problem for Iterative Convergent Parallel {ML}},
  booktitle = {ACM Symposium on Cloud Computing},
  year = {2016}
}
)bib"},
    Paper{"hogwild",
     R"bib(@inproceedings{niu2011hogwild,
  author = {Niu, Feng and Recht, Benjamin and R{\'e}, Christopher and Wright, Stephen J.},
  title = {{HOGWILD!}: A Lock-Free Approach to Parallelizing Stochastic Gradient Descent},
  booktitle = {Advances in Neural Information Processing Systems},
  eprint = {1106.5730},
  archivePrefix = {arXiv},
  year = {2011}
}
)bib"},
    Paper{"isolated",
     R"bib(@article{robbins1951stochastic,
  author = {Robbins, Herbert and Monro, Sutton},
  title = {A Stochastic Approximation Method},
  journal = {The Annals of Mathematical Statistics},
  volume = {22},
  number = {3},
  pages = {400--407},
  year = {1951}
}
)bib"},
    Paper{"Gorila",
     R"bib(@misc{nair2015massively,
  author = {Nair, Arun and others},
  title = {Massively Parallel Methods for Deep Reinforcement Learning},
  eprint = {1507.04296},
  archivePrefix = {arXiv},
  year = {2015}
}
)bib"},
    Paper{"GALA",
     R"bib(@inproceedings{assran2019gossip,
  author = {Assran, Mahmoud and Romoff, Joshua and Ballas, Nicolas and Pineau, Joelle and
    Rabbat, Michael},
  title = {Gossip-based Actor-Learner Architectures for Deep Reinforcement Learning},
  booktitle = {Advances in Neural Information Processing Systems},
  eprint = {1906.04585},
  archivePrefix = {arXiv},
  year = {2019}
}
)bib"}};
// clang-format on

bool names(std::string_view kinds, std::string_view kind) {
  for (std::size_t begin = 0; begin <= kinds.size();) {
    const std::size_t end = std::min(kinds.find(' ', begin), kinds.size());
    if (kinds.substr(begin, end - begin) == kind) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

std::vector<std::string> bibtex_of(std::string_view kind) {
  std::vector<std::string> entries;
  for (const Paper& paper : papers)
    if (names(paper.kinds, kind)) entries.emplace_back(paper.entry);
  return entries;
}

}  // namespace gv::cli
